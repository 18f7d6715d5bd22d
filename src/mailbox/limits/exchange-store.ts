import type { Reader, Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'

interface SentMessage {
  firstId: string
  secondId: string
  senderId: string
  now: number
  windowStart: number
}

// A message counts as an answer only when the sender changes. Messages in a row from one sender are limited by its rate.
const addAnswer = statement<
  SentMessage,
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

/** Counts an answer between two agents. Returns the answers in this window; undefined when the exchange is blocked. */
export async function countAnswer(
  tx: Transaction,
  pair: readonly [string, string],
  senderId: string,
  windowMs: number,
): Promise<number | undefined> {
  const [firstId, secondId] = pair
  return (await tx.get(addAnswer, { firstId, secondId, senderId, now: tx.now, windowStart: tx.now - windowMs }))?.turns
}

/** Returns until when the exchange of two agents is blocked, ms since the epoch; 0: it never was. */
export async function readBlockedUntil(db: Reader, [firstId, secondId]: readonly [string, string]): Promise<number> {
  return (await db.get(blockedUntil, { firstId, secondId }))?.blockedUntil ?? 0
}

/** Blocks the exchange of two agents and resets its count. */
export async function blockExchange(
  tx: Transaction,
  [firstId, secondId]: readonly [string, string],
  until: number,
): Promise<void> {
  await tx.run(block, { firstId, secondId, until })
}
