import type { Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { readBlockedUntil } from './exchange-store.ts'

interface Broadcast {
  /** The project, as the other side of the message. */
  peerId: string
  senderId: string
}

// Broadcasts share the table of exchanges. The row of '*' and the project counts the answers of all agents; a row of the project and an
// agent counts the broadcasts of that agent, in the window that is named in it. A window begins in the future when a clock was set back.
const isOver = sql`(exchange.window_at <= ${p('windowStart')} and exchange.blocked_until <= excluded.window_at
  or exchange.window_at > excluded.window_at)`
const open = statement<
  Broadcast & { now: number; windowStart: number },
  { windowAt: number }
>(sql`insert into exchange (first_id, second_id, last_sender, turns, window_at)
  values ('*', ${p('peerId')}, ${p('senderId')}, 0, ${p('now')})
  on conflict (first_id, second_id) do update set
    last_sender = case when ${isOver} then excluded.last_sender else exchange.last_sender end,
    turns = case when ${isOver} then 0 else exchange.turns end,
    blocked_until = case when ${isOver} then 0 else exchange.blocked_until end,
    window_at = case when ${isOver} then excluded.window_at else exchange.window_at end
  returning window_at as "windowAt"`)
const addSent = statement<
  Broadcast & { windowAt: number },
  { sent: number }
>(sql`insert into exchange (first_id, second_id, last_sender, turns, window_at)
  values (${p('peerId')}, ${p('senderId')}, ${p('senderId')}, 1, ${p('windowAt')})
  on conflict (first_id, second_id) do update set
    turns = case when exchange.window_at = excluded.window_at then exchange.turns + 1 else 1 end,
    window_at = excluded.window_at
  returning turns as "sent"`)
const takeBack = statement<Broadcast>(sql`update exchange set turns = turns - 1
  where first_id = ${p('peerId')} and second_id = ${p('senderId')}`)
// A broadcast is an answer only when the sender changes. Broadcasts in a row are limited by the rate of their sender.
const addAnswer = statement<Broadcast & { limit: number }>(sql`update exchange set
    turns = case when last_sender = ${p('senderId')} then turns else turns + 1 end,
    last_sender = ${p('senderId')}
  where first_id = '*' and second_id = ${p('peerId')} and turns < ${p('limit')}`)
const trip = statement<{ peerId: string; now: number; until: number }>(sql`update exchange
  set blocked_until = ${p('until')} where first_id = '*' and second_id = ${p('peerId')} and blocked_until <= ${p('now')}`)

/**
 * Counts a broadcast of an agent in the window of a project, and begins a window if the last one is over. Returns how many the agent
 * has sent in it before. From here to the end of the transaction no other gateway counts a broadcast to the project.
 */
export async function countBroadcast(tx: Transaction, broadcast: Broadcast, windowMs: number): Promise<number> {
  const { windowAt } = (await tx.get(open, { now: tx.now, windowStart: tx.now - windowMs, ...broadcast }))!
  return (await tx.get(addSent, { windowAt, ...broadcast }))!.sent - 1
}

/** Counts it as an answer if another agent has sent the last broadcast. Returns false, and counts nothing, at `limit` answers. */
export async function countBroadcastAnswer(tx: Transaction, broadcast: Broadcast, limit: number): Promise<boolean> {
  return (await tx.run(addAnswer, { limit, ...broadcast })) > 0
}

/**
 * Counts a broadcast as not sent. The first refusal of a window has it last for another `windowMs`. Returns whether this is that
 * refusal, and when the window ends, ms since the epoch.
 */
export async function refuseBroadcast(
  tx: Transaction,
  broadcast: Broadcast,
  windowMs: number,
): Promise<{ isFirst: boolean; until: number }> {
  const { peerId } = broadcast
  await tx.run(takeBack, broadcast)
  const isFirst = (await tx.run(trip, { peerId, now: tx.now, until: tx.now + windowMs })) > 0
  return { isFirst, until: await readBlockedUntil(tx, ['*', peerId]) }
}
