import { Problem } from '../errors.ts'
import { newSessionId } from '../lib/ids.ts'
import type { NewEvent } from '../log/event.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { type Conversation, type Session, succession } from '../registry/sessions/session.ts'
import { newestLiveSession, pageEndedSessions } from '../registry/sessions/session-lists.ts'
import {
  continueSession,
  findSessionOfProcess,
  insertSession,
  saveConversation,
} from '../registry/sessions/session-store.ts'
import type { Transaction } from '../storage/database.ts'
import { isBegunByWake } from '../wakes/rules/begun-by-wake.ts'
import { audienceOf } from '../wakes/rules/signal-audience.ts'
import { announceWaitingTo } from '../wakes/store/announce-waiting.ts'
import { arrivalsAround } from '../wakes/store/arrivals.ts'
import { resumeSubscriptionsOfSession, reviveSubscriptionsOf } from '../wakes/store/subscription-state.ts'
import type { PendingSignal } from '../words/mail.ts'
import { requireCapabilitiesSize } from './capabilities-size.ts'
import type { SessionContext } from './context.ts'
import { preemptSession, sessionEvent } from './end.ts'

/** The harness's own description. `startedAt`: when its process started, in ms since the epoch. */
interface SessionInput {
  readonly surface: string
  readonly capabilities?: readonly string[] | undefined
  readonly pid?: number | undefined
  readonly startedAt?: number | undefined
  /** False: the mail still waits, and goes along with the answers to later calls. For a process that cannot show it to the model. */
  readonly drain?: boolean | undefined
  readonly harness?: Conversation | undefined
}

interface StartedSession {
  readonly sessionId: string
  /** False: the process continues its session. */
  readonly created: boolean
  /** How long the session may be silent. */
  readonly timeoutSeconds: number
  readonly pendingSignals: readonly PendingSignal[]
}

/**
 * Starts a session and delivers the mail that waits for its agent. The newest process speaks for the agent: an older session is
 * preempted, its subscriptions are paused, and its next call gets `MasterPreempted`. The agent's subscriptions send one digest of
 * what waits, unless a wake has begun the session. The same process (the same `pid` and `startedAt`) continues its session, also after a timeout. Errors: `session-preempted` when a newer process speaks for the agent,
 * `forbidden` for an operator, which has no sessions, `payload-too-large`. Source: S2-2, S2-11, S2-20, D12.
 */
export function startSession(context: SessionContext, caller: Caller, input: SessionInput): Promise<StartedSession> {
  requireAgentCaller(caller)
  requireCapabilitiesSize(input.capabilities, 'capabilities')
  return context.db.transaction(async (tx) => {
    // Of two concurrent starts, the second waits, so that it sees the first.
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
    await saveConversation(tx, session.id, input.harness)
    const resumed = former && former.endedAt !== null ? await resumeSubscriptions(context, tx, former) : []
    const revived = await reviveSubscriptions(context, tx, caller)
    if (former === undefined || former.endedAt !== null) await announceWhatWaits(context, tx, session, live)
    const pendingSignals = input.drain === false ? [] : await context.drain(tx, caller.id, session.id)
    await context.append(tx, caller.projectId, revived)
    if (step !== 'continue') {
      const about = { sessionId: session.id, agent: caller.identity, project: session.projectId, surface }
      tx.onCommit(() => context.log.info(about, 'session.started'))
      const joined = sessionEvent('peer.joined', caller.identity, session, { identity: caller.identity })
      await context.append(tx, caller.projectId, [...(preempted ?? []), ...resumed, joined])
      if (preempted && live) await announcePreempted(context, tx, live, caller.identity, session.id)
      await announceJoined(context, tx, caller, { ...session, surface })
    }
    const timeoutSeconds = context.timeoutMs / 1000
    return { sessionId: session.id, created: former === undefined, timeoutSeconds, pendingSignals }
  })
}

/** Only agents have sessions. Errors: `forbidden`. */
export function requireAgentCaller(caller: Caller): void {
  if (caller.kind === 'agent') return
  throw new Problem('forbidden', { detail: 'Only agents have sessions and presence; use the key of an agent.' })
}

/** The clock of the harness may be ahead: a start in the future counts as now. */
function processOf({ pid, startedAt }: SessionInput, now: number) {
  return { pid: pid ?? null, processStartedAt: startedAt === undefined ? null : Math.min(startedAt, now) }
}

function refusal(caller: Caller, live: Session): Problem {
  return new Problem('session-preempted', {
    detail: `A process that started later speaks for ${caller.identity} (session ${live.id}, ${live.surface}). End that session, or stop working as this agent.`,
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
    actedAt: 0,
    contextTokens: null,
    createdAt: now,
    endedAt: null,
    endReason: null,
    successorId: null,
    keyId,
    cwd: null,
    harnessSessionId: null,
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

/** A session that starts is a sign of life: its agent's degraded subscriptions become active. Source: D31. */
async function reviveSubscriptions(
  { changed }: SessionContext,
  tx: Transaction,
  { id: agentId, identity }: Caller,
): Promise<readonly NewEvent[]> {
  const revived = await reviveSubscriptionsOf(tx, agentId)
  tx.onCommit(() => {
    for (const { id } of revived) changed(id)
  })
  return revived.flatMap(({ id: subscriptionId, reason }): NewEvent[] => {
    const by = (type: 'subscription.updated' | 'subscription.recovered') => ({
      type,
      actor: identity,
      actorId: agentId,
      audience: audienceOf(type, agentId),
    })
    return [
      { ...by('subscription.updated'), data: { subscriptionId, status: 'active' } },
      { ...by('subscription.recovered'), data: { subscriptionId, agent: identity, reason } },
    ]
  })
}

/** Notifies the older session, and no other, which session speaks for the agent now. Source: D26. */
function announcePreempted(
  { announce }: SessionContext,
  tx: Transaction,
  { id: toSessionId, agentId: toAgentId, projectId }: Session,
  identity: string,
  newSessionId: string,
): Promise<void> {
  const payload = { preempted_by: identity, new_master_session: newSessionId }
  return announce(tx, { projectId, signalType: 'MasterPreempted', payload, toAgentId, toSessionId })
}

function announceJoined(
  { announce }: SessionContext,
  tx: Transaction,
  { id: exceptAgentId, identity, projectId }: Caller,
  { id: sessionId, surface }: Session,
): Promise<void> {
  const payload = { identity, surface, session_id: sessionId }
  return announce(tx, { projectId, signalType: 'PeerJoined', payload, toAgentId: 'project', exceptAgentId })
}

/**
 * Makes the subscriptions of an agent whose session has started send one digest of what waits. Not to receivers whose wake has begun the
 * session: see `isBegunByWake`. `live`: the session that was live before. Source: D29.
 */
async function announceWhatWaits(
  { changed, hasWaiting }: SessionContext,
  tx: Transaction,
  session: Session,
  live: Session | undefined,
): Promise<void> {
  const { id, agentId } = session
  if (!(await hasWaiting(tx, agentId))) return
  const former = live && live.id !== id ? live : await newestEnded(tx, session)
  const isBegun = await isBegunByWake(session, former, (instant) => arrivalsAround(tx, agentId, instant))
  const announcing = await announceWaitingTo(tx, agentId, { isBegunByWake: isBegun })
  tx.onCommit(() => announcing.forEach(changed))
}

async function newestEnded(tx: Transaction, { id, agentId }: Session): Promise<Session | undefined> {
  const { items } = await pageEndedSessions(tx, { agentId }, { before: '', limit: 2 })
  return items.find((one) => one.id !== id)
}
