import { Problem } from '../errors.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { EffectiveGate } from '../registry/recovery/gate.ts'
import { readGates } from '../registry/recovery/gate-store.ts'
import type { BridgeAccount, InFlight, Recovery } from '../registry/recovery/recovery.ts'
import { findRecovery, saveBridgeAccount, saveRecovery } from '../registry/recovery/recovery-store.ts'
import { newestLiveSession } from '../registry/sessions/session-lists.ts'
import { findSession } from '../registry/sessions/session-store.ts'
import type { Transaction } from '../storage/database.ts'
import type { RecoveryContext } from './context.ts'
import { requireOwnAgent } from './parking.ts'
import { recoveryEvent } from './recovery-event.ts'

/** An order to restart the harness of an agent. */
export interface Order {
  readonly epoch: number
  readonly inFlight: InFlight
  /** Until when the new session has to act, ms since the epoch. */
  readonly deadlineAt: number
  /** The id of the former conversation in its harness: a hint for the search for its notes, and no address. Source: S3-8. */
  readonly originSessionId: string | null
}

/** The answer to a bridge that reports. */
interface Heard {
  readonly order: Order | null
  readonly gate: EffectiveGate
  readonly recovery: Recovery
}

/** Keeps the account of an agent's bridge. Returns its order, if there is one that nobody has begun. Source: S1-42. */
export async function reportBridge(context: RecoveryContext, caller: Caller, account: BridgeAccount): Promise<Heard> {
  requireOwnAgent(caller)
  const { id, projectId } = caller
  return context.db.transaction(async (tx) => {
    await requireAgentThere(tx, caller)
    await saveBridgeAccount(tx, { agentId: id, projectId }, account)
    const recovery = await findRecovery(tx, id, projectId)
    const { effective: gate } = await readGates(tx, projectId, id)
    const isOrdered = recovery.inFlight?.mode === 'restart' && recovery.inFlight.begunAt === null
    const isOpen = isOrdered && gate.restarts === 'enabled' && (await outdatedBy(tx, recovery, gate)) === undefined
    const order = isOpen ? await orderOf(tx, recovery, gate) : null
    return { order, gate, recovery }
  })
}

async function orderOf(tx: Transaction, { epoch, inFlight }: Recovery, gate: EffectiveGate): Promise<Order> {
  const { sessionId, since } = inFlight!
  const former = sessionId === null ? undefined : await findSession(tx, sessionId)
  const deadlineAt = since + gate.settings.bootTimeoutSeconds * 1_000
  return { epoch, inFlight: inFlight!, deadlineAt, originSessionId: former?.harnessSessionId ?? null }
}

/**
 * Begins a restart: the bridge calls it immediately before it starts anything. Each order is begun once. Errors: `stale-epoch` for an
 * order that is over or was begun; `gate-closed` when a person has closed the gate since: the order is over then. Source: S3-9, S3-10.
 */
export async function beginAct(context: RecoveryContext, caller: Caller, epoch: number): Promise<Order> {
  requireOwnAgent(caller)
  const { id, identity, projectId } = caller
  const begun = await context.db.transaction(async (tx): Promise<Order | EffectiveGate> => {
    await requireAgentThere(tx, caller)
    const recovery = await requireOrder(tx, caller, epoch)
    if (recovery.inFlight!.begunAt !== null) throw staleEpoch(recovery)
    const { effective: gate } = await readGates(tx, projectId, id)
    const outdated = await outdatedBy(tx, recovery, gate)
    if (outdated !== undefined) throw staleEpoch(recovery, outdated)
    if (gate.restarts !== 'enabled') {
      await saveRecovery(tx, { ...recovery, inFlight: null, actedFor: null })
      const about = {
        change: 'withdrawn',
        mode: 'restart',
        epoch,
        reason: 'the gate is closed',
        since: recovery.inFlight!.since,
      } as const
      await context.append(tx, projectId, [recoveryEvent('recovery.ended', { id, handle: identity }, about)])
      return gate
    }
    const inFlight = { ...recovery.inFlight!, begunAt: tx.now }
    await saveRecovery(tx, { ...recovery, inFlight })
    return orderOf(tx, { ...recovery, inFlight }, gate)
  })
  if ('inFlight' in begun) return begun
  throw new Problem('gate-closed', {
    detail: `The gate of ${identity} is ${begun.restarts}${begun.reason ? `: ${begun.reason}` : ''}. A person opens it: rouse gate.`,
    extra: { gate: { nudges: begun.nudges, restarts: begun.restarts, reason: begun.reason } },
  })
}

/** The outcome of a restart, as its bridge reports it. */
interface Outcome {
  readonly outcome: 'started' | 'failed' | 'refused'
  readonly detail?: string | undefined
}

/**
 * Records what became of a restart. `started` proves nothing yet: the act ends with the first act of a new session. `failed`: nothing runs, so
 * that it may be tried again, within the bounds. `refused`: a person or the configuration does not want it, so that it is not. Errors: `stale-epoch`.
 */
export async function reportAct(
  context: RecoveryContext,
  caller: Caller,
  epoch: number,
  { outcome, detail }: Outcome,
): Promise<void> {
  requireOwnAgent(caller)
  const { id, identity, projectId } = caller
  await context.db.transaction(async (tx) => {
    await requireAgentThere(tx, caller)
    const recovery = await requireOrder(tx, caller, epoch)
    if (outcome === 'started') return
    const actedFor = outcome === 'refused' ? recovery.actedFor : null
    await saveRecovery(tx, { ...recovery, inFlight: null, actedFor })
    const about = {
      change: outcome,
      mode: 'restart',
      epoch,
      reason: detail ?? outcome,
      since: recovery.inFlight!.since,
    } as const
    await context.append(tx, projectId, [recoveryEvent('recovery.ended', { id, handle: identity }, about)])
  })
}

async function requireOrder(tx: Transaction, { id, projectId }: Caller, epoch: number): Promise<Recovery> {
  const recovery = await findRecovery(tx, id, projectId)
  if (recovery.inFlight?.mode === 'restart' && recovery.epoch === epoch) return recovery
  throw staleEpoch(recovery)
}

/** Why an order is not to be carried out any more. What is seen now counts, and not what was seen when it was given. */
async function outdatedBy(tx: Transaction, { agentId, parked, inFlight }: Recovery, gate: EffectiveGate) {
  const { now } = tx
  if (parked && parked.until > now) return 'Its agent is parked.'
  if (now - inFlight!.since > gate.settings.bootTimeoutSeconds * 1_000) return 'Its time is over.'
  const live = await newestLiveSession(tx, agentId)
  return live && live.createdAt > inFlight!.since ? `Session ${live.id} has begun since.` : undefined
}

/** Locks the caller's agent. Errors: `agent-not-found` when it was removed meanwhile. */
async function requireAgentThere(tx: Transaction, { id, identity }: Caller): Promise<void> {
  if (await lockAgent(tx, id)) return
  throw new Problem('agent-not-found', { detail: `${identity} is no longer registered.` })
}

function staleEpoch({ epoch, inFlight }: Recovery, why = 'This order is over, or was begun already.'): Problem {
  const current = inFlight?.mode === 'restart' && inFlight.begunAt === null ? epoch : null
  return new Problem('stale-epoch', {
    field: 'epoch',
    detail: `epoch: ${why} Do nothing; the next report has the order that holds, if there is one.`,
    extra: { current },
  })
}
