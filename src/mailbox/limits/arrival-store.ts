import type { Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { readBlockedUntil } from './exchange-store.ts'

interface Arrival {
  recipientId: string
  senderId: string
  now: number
  windowStart: number
  limit: number
}

// Arrivals share the table of exchanges, with '>' as the other party. A window begins in the future when a clock was set back.
const count = statement<
  Arrival,
  { windowAt: number }
>(sql`insert into exchange (first_id, second_id, last_sender, turns, window_at)
  values ('>', ${p('recipientId')}, ${p('senderId')}, 1, ${p('now')})
  on conflict (first_id, second_id) do update set
    turns = case when exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at then 1
      else exchange.turns + 1 end,
    window_at = case when exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at
      then excluded.window_at else exchange.window_at end,
    last_sender = excluded.last_sender
  where exchange.turns < ${p('limit')} or exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at
  returning window_at as "windowAt"`)
// The same for messages that were accepted before: they are counted whatever the limit is.
const add = statement<
  Omit<Arrival, 'limit'> & { count: number },
  { count: number; windowAt: number }
>(sql`insert into exchange (first_id, second_id, last_sender, turns, window_at)
  values ('>', ${p('recipientId')}, ${p('senderId')}, cast(${p('count')} as bigint), ${p('now')})
  on conflict (first_id, second_id) do update set
    turns = case when exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at then excluded.turns
      else exchange.turns + excluded.turns end,
    window_at = case when exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at
      then excluded.window_at else exchange.window_at end,
    last_sender = excluded.last_sender
  returning turns as "count", window_at as "windowAt"`)
const close = statement<{ recipientId: string; now: number; windowMs: number }>(sql`update exchange
  set blocked_until = window_at + cast(${p('windowMs')} as bigint)
  where first_id = '>' and second_id = ${p('recipientId')} and blocked_until <= ${p('now')}`)

/**
 * Counts a message against the limit of its recipient's window. Returns when the window began, ms since the epoch; undefined, and
 * counts nothing, when the limit is reached.
 */
export async function countArrival(
  tx: Transaction,
  {
    recipientId,
    senderId,
    limit,
    windowMs,
  }: { recipientId: string; senderId: string; limit: number; windowMs: number },
): Promise<number | undefined> {
  const arrival = { recipientId, senderId, limit, now: tx.now, windowStart: tx.now - windowMs }
  return (await tx.get(count, arrival))?.windowAt
}

/** Counts messages that were accepted before. Returns the count of the recipient's window and its begin, ms since the epoch. */
export async function addArrivals(
  tx: Transaction,
  arrivals: { recipientId: string; senderId: string; count: number; windowMs: number },
): Promise<{ count: number; windowAt: number }> {
  const { windowMs, ...rest } = arrivals
  return (await tx.get(add, { now: tx.now, windowStart: tx.now - windowMs, ...rest }))!
}

/** Closes a recipient's window. Returns whether this is the window's first refusal, and when it ends, ms since the epoch. */
export async function closeArrivalWindow(
  tx: Transaction,
  recipientId: string,
  windowMs: number,
): Promise<{ isFirst: boolean; until: number }> {
  const isFirst = (await tx.run(close, { recipientId, now: tx.now, windowMs })) > 0
  return { isFirst, until: await readBlockedUntil(tx, ['>', recipientId]) }
}
