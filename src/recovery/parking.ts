import { Problem } from '../errors.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Parked, ParkedReason } from '../registry/recovery/recovery.ts'
import { findRecovery, saveRecovery } from '../registry/recovery/recovery-store.ts'
import type { Transaction } from '../storage/database.ts'
import { parkSubscriptions, unparkSubscriptions } from '../wakes/store/park-subscriptions.ts'
import { parkedMsMax } from '../words/parking.ts'
import type { RecoveryContext } from './context.ts'
import { recoveryEvent } from './recovery-event.ts'

const sameMs = 30 * 60_000

/** The limit that a harness reports. `until`: ms since the epoch; null: until a person acts. */
interface ParkInput {
  readonly until: number | null
  readonly reason: ParkedReason
  readonly detail?: string | undefined
}

/**
 * Parks the caller's agent: until the limit of its harness is over it is not woken, nudged or restarted, its mail waits, and its senders see
 * why. It holds across restarts. Errors: `invalid-request` for an instant that is past, or more than eight days ahead. Source: D50.
 */
export async function park(context: RecoveryContext, caller: Caller, input: ParkInput): Promise<Parked> {
  requireOwnAgent(caller)
  const { id, identity, projectId } = caller
  return context.db.transaction(async (tx) => {
    const { now } = tx
    if (input.until !== null && (input.until <= now || input.until > now + parkedMsMax)) {
      throw new Problem('invalid-request', {
        field: 'until',
        detail: 'until: must lie in the future, at most eight days from now. null: until a person acts.',
      })
    }
    await lockAgent(tx, id)
    const before = await findRecovery(tx, id, projectId)
    const { reason, detail = null } = input
    const since = before.parked && before.parked.reason === reason ? before.parked.since : now
    const parked = { since, until: input.until ?? now + parkedMsMax, isOpen: input.until === null, reason, detail }
    await saveRecovery(tx, { ...before, parked })
    const ids = await parkSubscriptions(tx, id, parked.until)
    tx.onCommit(() => ids.forEach(context.changed))
    const about = { change: 'parked', reason, until: input.until, since } as const
    const known = before.parked
    // A harness reports the same limit again and again, each time a little differently.
    const isSame =
      known?.reason === reason &&
      known.isOpen === parked.isOpen &&
      (known.isOpen || Math.abs(known.until - parked.until) < sameMs)
    if (!isSame)
      await context.append(tx, projectId, [recoveryEvent('recovery.parked', { id, handle: identity }, about)])
    return parked
  })
}

/** Only an agent, or a program with its key, speaks for its harness. Errors: `forbidden`. */
export function requireOwnAgent(caller: Caller): void {
  if (caller.kind === 'agent') return
  throw new Problem('forbidden', { detail: 'Only an agent speaks for its harness; use the key of an agent.' })
}

/** Ends the park of an agent: by itself, or by an operator. What waits is sent at once. Ending none changes nothing. */
export async function endPark(
  context: RecoveryContext,
  agent: { readonly id: string; readonly handle: string; readonly projectId: string },
  by: string,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    await lockAgent(tx, agent.id)
    const before = await findRecovery(tx, agent.id, agent.projectId)
    if (!before.parked) return
    await unpark(context, tx, agent.id)
    await saveRecovery(tx, { ...before, parked: null })
    const about = { change: 'unparked', reason: `${by} ended it`, since: before.parked.since } as const
    await context.append(tx, agent.projectId, [recoveryEvent('recovery.unparked', agent, about)])
  })
}

/** Has the subscriptions of an agent send again. */
export async function unpark({ changed }: RecoveryContext, tx: Transaction, agentId: string): Promise<void> {
  const ids = await unparkSubscriptions(tx, agentId)
  tx.onCommit(() => ids.forEach(changed))
}
