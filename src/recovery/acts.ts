import { Problem } from '../errors.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { EffectiveGate } from '../registry/recovery/gate.ts'
import { readGates } from '../registry/recovery/gate-store.ts'
import type { BridgeAccount, InFlight, Recovery } from '../registry/recovery/recovery.ts'
import { findRecovery, saveBridgeAccount, saveRecovery } from '../registry/recovery/recovery-store.ts'
import { findSession } from '../registry/sessions/session-store.ts'
import type { Transaction } from '../storage/database.ts'
import { mayStart } from '../turns/may-start.ts'
import { newTurn, nobody } from '../turns/turn.ts'
import { insertTurn } from '../turns/turn-store.ts'
import type { RecoveryContext } from './context.ts'
import { requireOwnAgent } from './parking.ts'
import { readFacts } from './read-facts.ts'
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
interface ReportAnswer {
  readonly order: Order | null
  readonly gate: EffectiveGate
  readonly recovery: Recovery
}

/** Keeps the account of an agent's bridge. Returns its order, if there is one that nobody has begun. Source: S1-42. */
export async function reportBridge(
  context: RecoveryContext,
  caller: Caller,
  account: BridgeAccount,
): Promise<ReportAnswer> {
  requireOwnAgent(caller)
  const { id, projectId } = caller
  return context.db.transaction(async (tx) => {
    await requireAgentThere(tx, caller)
    await saveBridgeAccount(tx, { agentId: id, projectId }, account)
    const recovery = await findRecovery(tx, id, projectId)
    const { effective: gate } = await readGates(tx, projectId, id)
    const isOrdered = recovery.inFlight?.mode === 'restart' && recovery.inFlight.begunAt === null
    const isOpen = isOrdered && (await againstOrder(context, tx, caller)) === undefined
    const order = isOpen ? await orderOf(tx, recovery) : null
    return { order, gate, recovery }
  })
}

async function orderOf(tx: Transaction, { epoch, inFlight }: Recovery): Promise<Order> {
  const { sessionId, deadlineAt } = inFlight!
  const former = sessionId === null ? undefined : await findSession(tx, sessionId)
  return { epoch, inFlight: inFlight!, deadlineAt, originSessionId: former?.harnessSessionId ?? null }
}

/**
 * Begins a restart: the bridge calls it immediately before it starts anything. Each order is begun once. An order that a rule is against by
 * now is over. Errors: `stale-epoch` for an order that is over or was begun; `gate-closed` when a person has closed the gate since. Source: S3-9, S3-10.
 */
export async function beginAct(context: RecoveryContext, caller: Caller, epoch: number): Promise<Order> {
  requireOwnAgent(caller)
  const { id, identity, projectId } = caller
  const begun = await context.db.transaction(async (tx): Promise<Order | { readonly refused: Problem }> => {
    await requireAgentThere(tx, caller)
    const recovery = await requireOrder(tx, caller, epoch)
    if (recovery.inFlight!.begunAt !== null) throw staleEpoch(recovery)
    const against = await againstOrder(context, tx, caller)
    if (against) {
      const { since } = recovery.inFlight!
      await saveRecovery(tx, { ...recovery, inFlight: null, actedFor: null })
      const about = { change: 'withdrawn', mode: 'restart', epoch, reason: against.reason, since } as const
      await context.append(tx, projectId, [recoveryEvent('recovery.ended', { id, handle: identity }, about)])
      return { refused: against.refused }
    }
    const inFlight = { ...recovery.inFlight!, begunAt: tx.now }
    await saveRecovery(tx, { ...recovery, inFlight })
    const about = { act: 'boot', route: recovery.bridge?.harness ?? 'unknown', ...nobody } as const
    await insertTurn(tx, newTurn({ ...about, projectId, agentId: id }, tx.now))
    return orderOf(tx, { ...recovery, inFlight })
  })
  if ('refused' in begun) throw begun.refused
  return begun
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

/** Why an order is not to be carried out any more: it is asked again at the door. What is seen now counts, and not what was seen when it was given. */
async function againstOrder(
  context: RecoveryContext,
  tx: Transaction,
  caller: Caller,
): Promise<{ readonly reason: string; readonly refused: Problem } | undefined> {
  const facts = await readFacts(context, tx, caller, { now: tx.now, trouble: null, staleRounds: 2 })
  const { recovery, gate } = facts
  if (tx.now > recovery.inFlight!.deadlineAt) {
    return { reason: 'its time is over', refused: staleEpoch(recovery, 'Its time is over.') }
  }
  const verdict = mayStart('boot', facts)
  if (verdict.answer === 'start') return undefined
  if (verdict.rule === 'gate_disabled' || verdict.rule === 'gate_tripped') {
    return { reason: 'the gate is closed', refused: gateClosed(caller, gate) }
  }
  return { reason: verdict.rule, refused: staleEpoch(recovery, verdict.why) }
}

function gateClosed({ identity }: Caller, { nudges, restarts, reason }: EffectiveGate): Problem {
  return new Problem('gate-closed', {
    detail: `The gate of ${identity} is ${restarts}${reason ? `: ${reason}` : ''}.`,
    remedy: 'open-gate',
    extra: { gate: { nudges, restarts, reason } },
  })
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
