import type { Reader, Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'

interface Turn {
  firstId: string
  secondId: string
  senderId: string
  now: number
  windowStart: number
}

// A turn counts only when the sender changes. Messages in a row from one sender are limited by its rate.
const addTurn = statement<
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

/** Counts a turn between two agents. Returns the turns in this window; undefined when the exchange is blocked. */
export async function countTurn(
  tx: Transaction,
  pair: readonly [string, string],
  senderId: string,
  windowMs: number,
): Promise<number | undefined> {
  const [firstId, secondId] = pair
  return (await tx.get(addTurn, { firstId, secondId, senderId, now: tx.now, windowStart: tx.now - windowMs }))?.turns
}

/** Returns until when the exchange of two agents is blocked, ms since the epoch; 0: it never was. */
export async function readBlockedUntil(db: Reader, [firstId, secondId]: readonly [string, string]): Promise<number> {
  return (await db.get(blockedUntil, { firstId, secondId }))?.blockedUntil ?? 0
}

/** Blocks the exchange of two agents and resets its turns. */
export async function blockExchange(
  tx: Transaction,
  [firstId, secondId]: readonly [string, string],
  until: number,
): Promise<void> {
  await tx.run(block, { firstId, secondId, until })
}
