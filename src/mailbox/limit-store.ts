import type { Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

interface Spend {
  senderId: string
  now: number
  costMs: number
  windowMs: number
}

// One row holds a rate (GCRA): the instant at which the sender's allowance is whole again. A message moves it on by its share of
// the window, and is refused when that would be more than a window away.
const spend = statement<Spend, { fullAt: number }>(sql`insert into send_rate (sender_id, full_at)
  values (${p('senderId')}, ${p('now')} + cast(${p('costMs')} as bigint))
  on conflict (sender_id) do update set full_at =
    case when send_rate.full_at > ${p('now')} then send_rate.full_at else ${p('now')} end + ${p('costMs')}
  where send_rate.full_at + ${p('costMs')} <= ${p('now')} + cast(${p('windowMs')} as bigint)
  returning full_at as "fullAt"`)
const rate = statement<{ senderId: string }, { fullAt: number }>(
  sql`select full_at as "fullAt" from send_rate where sender_id = ${p('senderId')}`,
)
const noteRefusal = statement<{ senderId: string; now: number; before: number }>(
  sql`update send_rate set refused_at = ${p('now')} where sender_id = ${p('senderId')} and refused_at <= ${p('before')}`,
)

interface Turn {
  firstId: string
  secondId: string
  senderId: string
  now: number
  windowStart: number
}

// Only taking turns counts: one that writes on and on is a matter for its rate.
const takeTurn = statement<
  Turn,
  { turns: number }
>(sql`insert into exchange (first_id, second_id, last_sender, turns, window_at)
  values (${p('firstId')}, ${p('secondId')}, ${p('senderId')}, 0, ${p('now')})
  on conflict (first_id, second_id) do update set
    turns = case when exchange.window_at <= ${p('windowStart')} then 0
      when exchange.last_sender = excluded.last_sender then exchange.turns else exchange.turns + 1 end,
    window_at = case when exchange.window_at <= ${p('windowStart')} then excluded.window_at else exchange.window_at end,
    last_sender = excluded.last_sender
  where exchange.blocked_until <= ${p('now')}
  returning turns`)
const blockedUntil = statement<{ firstId: string; secondId: string }, { blockedUntil: number }>(
  sql`select blocked_until as "blockedUntil" from exchange where first_id = ${p('firstId')} and second_id = ${p('secondId')}`,
)
const block = statement<{ firstId: string; secondId: string; until: number }>(
  sql`update exchange set blocked_until = ${p('until')}, turns = 0 where first_id = ${p('firstId')} and second_id = ${p('secondId')}`,
)

/** Counts a message against its sender's rate. False: the rate is used up, and nothing was counted. */
export async function spendRate(tx: Transaction, senderId: string, costMs: number, windowMs: number): Promise<boolean> {
  return (await tx.get(spend, { senderId, now: tx.now, costMs, windowMs })) !== undefined
}

/** When the sender's allowance is whole again (ms since the epoch). */
export async function readRate(db: Reader, senderId: string): Promise<number | undefined> {
  return (await db.get(rate, { senderId }))?.fullAt
}

/** Whether this is the sender's first refusal since an instant: the one that is worth a line in the log. */
export async function isFirstRefusal(tx: Transaction, senderId: string, since: number): Promise<boolean> {
  return (await tx.run(noteRefusal, { senderId, now: tx.now, before: since })) > 0
}

/** Counts a turn between two. Answers how often they have taken turns in this window; undefined: they are kept apart. */
export async function countTurn(
  tx: Transaction,
  pair: readonly [string, string],
  senderId: string,
  windowMs: number,
): Promise<number | undefined> {
  const [firstId, secondId] = pair
  return (await tx.get(takeTurn, { firstId, secondId, senderId, now: tx.now, windowStart: tx.now - windowMs }))?.turns
}

export async function readBlock(db: Reader, [firstId, secondId]: readonly [string, string]): Promise<number> {
  return (await db.get(blockedUntil, { firstId, secondId }))?.blockedUntil ?? 0
}

export async function keepApart(
  tx: Transaction,
  [firstId, secondId]: readonly [string, string],
  until: number,
): Promise<void> {
  await tx.run(block, { firstId, secondId, until })
}
