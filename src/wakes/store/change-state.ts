import { mayBecome } from '../../registry/subscriptions/status.ts'
import type { DeliveryState, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { Collision, type Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { endsLease } from './lease-columns.ts'
import { dropUnfinished, endRetries } from './unfinished-store.ts'

interface ExpectedState {
  knownAt: number
  knownGeneration: number
  knownStatus: string
  knownCursor: number
  knownFailed: number
  knownDueAt: number | null
  knownOwner: string | null
}
const isKnown = sql`updated_at = ${p('knownAt')} and generation = ${p('knownGeneration')} and status = ${p('knownStatus')}
    and cursor_log_id = ${p('knownCursor')} and failed_in_a_row = ${p('knownFailed')} and due_at is not distinct from ${p('knownDueAt')}
    and lease_owner is not distinct from ${p('knownOwner')}`

/** The part of a subscription's state that a caller may change. */
type NewState = Pick<
  DeliveryState,
  | 'status'
  | 'reason'
  | 'failedInARow'
  | 'cursorLogId'
  | 'lastEmittedLogId'
  | 'failing'
  | 'generation'
  | 'generationAt'
  | 'dueAt'
> &
  Pick<WakeSubscription, 'resumeWithDigest'>
interface NewStateRow extends Omit<NewState, 'resumeWithDigest' | 'failing'> {
  readonly failingCursorLogId: number | null
  readonly failingEmittedLogId: number | null
  readonly resumeWithDigest: number
  /** A receiver of other settings is tried again. */
  readonly probeAt: number | null
}
const change = statement<
  NewStateRow & ExpectedState & { id: string; now: number }
>(sql`update subscription set status = ${p('status')}, reason = ${p('reason')}, failed_in_a_row = ${p('failedInARow')},
    cursor_log_id = ${p('cursorLogId')}, last_emitted_log_id = ${p('lastEmittedLogId')},
    failing_cursor_log_id = ${p('failingCursorLogId')}, failing_emitted_log_id = ${p('failingEmittedLogId')}, generation = ${p('generation')},
    generation_at = ${p('generationAt')}, resume_with_digest = ${p('resumeWithDigest')}, due_at = ${p('dueAt')},
    ${endsLease}, probe_at = ${p('probeAt')}, updated_at = ${p('now')}
  where id = ${p('id')} and ${isKnown}`)

const resynced = statement<{ id: string }>(
  sql`update subscription set resynced_generation = generation where id = ${p('id')}`,
)

/** Notes that the present generation of a subscription begins with a resync: what earlier ones have sent does not count. */
export async function noteResynced(tx: Transaction, id: string): Promise<void> {
  await tx.run(resynced, { id })
}

/**
 * Writes a subscription's state and ends its lease: a run that sends for it finds out when it records, and the next lease sees the
 * new settings. Throws `Collision` when the subscription is not what was read, and an `Error` for a status that may not follow.
 */
export async function changeState(tx: Transaction, before: WakeSubscription, state: NewState): Promise<void> {
  if (!mayBecome(before.status, state.status)) {
    throw new Error(`A ${before.status} subscription cannot become ${state.status}.`)
  }
  const { status, reason, failedInARow, cursorLogId, lastEmittedLogId, generation, generationAt, dueAt } = state
  const changed = await tx.run(change, {
    id: before.id,
    now: tx.now,
    status,
    reason,
    failedInARow,
    cursorLogId,
    lastEmittedLogId,
    failingCursorLogId: state.failing?.cursorLogId ?? null,
    failingEmittedLogId: state.failing?.lastEmittedLogId ?? null,
    generation,
    generationAt,
    dueAt,
    resumeWithDigest: state.resumeWithDigest ? 1 : 0,
    probeAt: status === 'degraded' ? tx.now : null,
    knownAt: before.updatedAt,
    knownGeneration: before.generation,
    knownStatus: before.status,
    knownCursor: before.cursorLogId,
    knownFailed: before.failedInARow,
    knownDueAt: before.dueAt,
    knownOwner: before.leaseOwner,
  })
  if (changed === 0) throw new Collision(`Subscription ${before.id} was changed meanwhile.`)
  if (cursorLogId !== before.cursorLogId) await dropUnfinished(tx, before.id)
  if (generation !== before.generation) await endRetries(tx, before.id)
}
