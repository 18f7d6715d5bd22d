import type { Reader, Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'

interface Send {
  senderId: string
  now: number
  costMs: number
  windowMs: number
}

// One row holds a rate (GCRA): the instant at which the sender's whole allowance is available again. A message moves that instant
// by its share of the window, and is refused when it would be more than one window away.
const count = statement<Send, { fullAt: number }>(sql`insert into send_rate (sender_id, full_at)
  values (${p('senderId')}, ${p('now')} + cast(${p('costMs')} as bigint))
  on conflict (sender_id) do update set full_at =
    case when send_rate.full_at > ${p('now')} then send_rate.full_at else ${p('now')} end + ${p('costMs')}
  where send_rate.full_at + ${p('costMs')} <= ${p('now')} + cast(${p('windowMs')} as bigint)
  returning full_at as "fullAt"`)
// The same for messages that were accepted before: they are counted whatever the rate is.
const add = statement<Omit<Send, 'windowMs'>, { fullAt: number }>(sql`insert into send_rate (sender_id, full_at)
  values (${p('senderId')}, ${p('now')} + cast(${p('costMs')} as bigint))
  on conflict (sender_id) do update set full_at =
    case when send_rate.full_at > ${p('now')} then send_rate.full_at else ${p('now')} end + ${p('costMs')}
  returning full_at as "fullAt"`)
const rate = statement<{ senderId: string }, { fullAt: number }>(
  sql`select full_at as "fullAt" from send_rate where sender_id = ${p('senderId')}`,
)
const recordRefusal = statement<{ senderId: string; now: number; before: number }>(
  sql`update send_rate set refused_at = ${p('now')} where sender_id = ${p('senderId')} and refused_at <= ${p('before')}`,
)

/** Counts a message against its sender's rate. Returns false, and counts nothing, when the rate is used up. */
export async function countSend(tx: Transaction, senderId: string, costMs: number, windowMs: number): Promise<boolean> {
  return (await tx.get(count, { senderId, now: tx.now, costMs, windowMs })) !== undefined
}

/**
 * Counts messages that were accepted before; a negative cost takes back what this transaction has counted. Returns when the sender's whole allowance is available again,
 * ms since the epoch.
 */
export async function addSends(tx: Transaction, senderId: string, costMs: number): Promise<number> {
  return (await tx.get(add, { senderId, now: tx.now, costMs }))!.fullAt
}

/** Returns when the sender's whole allowance is available again, ms since the epoch; undefined: it has sent nothing lately. */
export async function readFullAt(db: Reader, senderId: string): Promise<number | undefined> {
  return (await db.get(rate, { senderId }))?.fullAt
}

/** Records a refusal. Returns true for the sender's first one since an instant: only that one becomes an event. */
export async function recordFirstRefusal(tx: Transaction, senderId: string, since: number): Promise<boolean> {
  return (await tx.run(recordRefusal, { senderId, now: tx.now, before: since })) > 0
}
