import { Problem } from '../errors.ts'
import { newSessionId } from '../lib/ids.ts'
import type { NewEvent } from '../log/event.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { type Session, succession } from '../registry/sessions/session.ts'
import {
  continueSession,
  findSessionOfProcess,
  insertSession,
  newestLiveSession,
} from '../registry/sessions/session-store.ts'
import type { Transaction } from '../storage/database.ts'
import { resumeSubscriptionsOfSession } from '../wakes/store/subscription-state.ts'
import type { SessionContext } from './context.ts'
import { preemptSession, sessionEvent } from './end.ts'

/** What a harness says of itself. `startedAt`: when its process started, ms since the epoch. */
export interface SessionInput {
  readonly surface: string
  readonly capabilities?: readonly string[] | undefined
  readonly pid?: number | undefined
  readonly startedAt?: number | undefined
}

export interface StartedSession {
  readonly sessionId: string
  /** False: the process has the session that it had. */
  readonly created: boolean
  readonly pendingSignals: readonly object[]
}

/**
 * Starts a session and hands over the mail that waited for its agent. The newest process owns the identity: an older session is
 * preempted, told so, and sent no more wakes. A process that starts again (the same `pid` and `startedAt`) goes on with the
 * session it had, also when that was taken for silent. Errors: `session-preempted` when a newer process speaks for the agent,
 * `forbidden` for the operator, who has none. Source: S2-2, S2-11, S2-20, D12.
 */
export function startSession(context: SessionContext, caller: Caller, input: SessionInput): Promise<StartedSession> {
  requireAgentCaller(caller)
  return context.db.transaction(async (tx) => {
    // Two that start at once take turns, so that the second sees the first.
    if (!(await lockAgent(tx, caller.id))) {
      throw new Problem('agent-not-found', { detail: `${caller.identity} is no longer registered.` })
    }
    await requireLiveKey(tx, caller)
    const process = processOf(input, tx.now)
    const live = await newestLiveSession(tx, caller.id)
    const step = succession(process, live)
    if (step === 'refuse' && live) throw refusal(caller, live)
    const former = await findSessionOfProcess(tx, caller.id, process)
    const session = former ?? newSession(caller, process, input, tx.now)
    const preempted =
      step === 'preempt' && live ? await preemptSession(context, tx, live, caller.identity, session.id) : undefined
    const surface = input.surface
    const capabilities = input.capabilities ?? []
    if (former) await continueSession(tx, former.id, { surface, capabilities, keyId: caller.keyId })
    else await insertSession(tx, session)
    const resumed = former && former.endedAt !== null ? await resumeSubscriptions(context, tx, former) : []
    const pendingSignals = await context.drain(tx, caller.id, session.id)
    if (step !== 'continue') await tellJoined(context, tx, caller, { ...session, surface }, live, preempted, resumed)
    return { sessionId: session.id, created: former === undefined, pendingSignals }
  })
}

/** Sessions are of agents: an operator speaks for itself. */
export function requireAgentCaller(caller: Caller): void {
  if (caller.kind === 'agent') return
  throw new Problem('forbidden', { detail: 'Only agents have sessions and presence; use the key of an agent.' })
}

/** An instant that is still to come, by a clock that is ahead, is now. */
function processOf({ pid, startedAt }: SessionInput, now: number) {
  return { pid: pid ?? null, processStartedAt: startedAt === undefined ? null : Math.min(startedAt, now) }
}

function refusal(caller: Caller, live: Session): Problem {
  return new Problem('session-preempted', {
    detail: `A process that started later speaks for ${caller.identity} (session ${live.id}, ${live.surface}). End that session, or stop this process.`,
    extra: { newMasterSession: live.id, surface: live.surface },
  })
}

function newSession(
  { id: agentId, projectId, keyId }: Caller,
  process: { pid: number | null; processStartedAt: number | null },
  { surface, capabilities = [] }: SessionInput,
  now: number,
): Session {
  return {
    id: newSessionId(now),
    projectId,
    agentId,
    surface,
    capabilities,
    ...process,
    state: 'unknown',
    source: 'unknown',
    activeTurnId: null,
    presenceAt: null,
    lastSeenAt: now,
    createdAt: now,
    endedAt: null,
    endReason: null,
    successorId: null,
    keyId,
  }
}

async function resumeSubscriptions(
  { changed }: SessionContext,
  tx: Transaction,
  { id, agentId }: Session,
): Promise<readonly NewEvent[]> {
  const resumed = await resumeSubscriptionsOfSession(tx, id, 'session timeout')
  tx.onCommit(() => resumed.forEach(changed))
  return resumed.map((subscriptionId) => ({
    type: 'subscription.updated',
    actor: gatewayIdentity,
    audience: [agentId],
    data: { subscriptionId, status: 'active' },
  }))
}

async function tellJoined(
  { append, announce }: SessionContext,
  tx: Transaction,
  { id: agentId, identity, projectId }: Caller,
  session: Session,
  before: Session | undefined,
  preempted: readonly NewEvent[] | undefined,
  resumed: readonly NewEvent[],
): Promise<void> {
  const { id: sessionId, surface } = session
  const joined = sessionEvent('peer.joined', identity, session, { identity })
  await append(tx, projectId, [...(preempted ?? []), ...resumed, joined])
  if (preempted && before) {
    const payload = { preempted_by: identity, new_master_session: sessionId }
    await announce(tx, { projectId, signalType: 'MasterPreempted', payload, toAgentId: agentId })
  }
  const payload = { identity, surface, session_id: sessionId }
  await announce(tx, {
    projectId,
    signalType: 'PeerJoined',
    payload,
    toAgentId: 'project',
    exceptAgentId: agentId,
  })
}
