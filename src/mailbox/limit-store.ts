import type { Database, Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

const pageMax = 200

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
// The same, for what was taken already.
const spendMore = statement<Omit<Spend, 'windowMs'>, { fullAt: number }>(sql`insert into send_rate (sender_id, full_at)
  values (${p('senderId')}, ${p('now')} + cast(${p('costMs')} as bigint))
  on conflict (sender_id) do update set full_at =
    case when send_rate.full_at > ${p('now')} then send_rate.full_at else ${p('now')} end + ${p('costMs')}
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

interface Arrival {
  recipientId: string
  senderId: string
  now: number
  windowStart: number
  limit: number
}

// What one is sent is an exchange of its own, with '>' at the other end. A window that begins in the future is of a clock set back.
const takeIn = statement<
  Arrival,
  { turns: number }
>(sql`insert into exchange (first_id, second_id, last_sender, turns, window_at)
  values ('>', ${p('recipientId')}, ${p('senderId')}, 1, ${p('now')})
  on conflict (first_id, second_id) do update set
    turns = case when exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at then 1
      else exchange.turns + 1 end,
    window_at = case when exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at
      then excluded.window_at else exchange.window_at end,
    last_sender = excluded.last_sender
  where exchange.turns < ${p('limit')} or exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at
  returning turns`)
// The same, for messages that were taken already.
const takeMore = statement<
  Omit<Arrival, 'limit'> & { count: number },
  { turns: number; windowAt: number }
>(sql`insert into exchange (first_id, second_id, last_sender, turns, window_at)
  values ('>', ${p('recipientId')}, ${p('senderId')}, cast(${p('count')} as bigint), ${p('now')})
  on conflict (first_id, second_id) do update set
    turns = case when exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at then excluded.turns
      else exchange.turns + excluded.turns end,
    window_at = case when exchange.window_at <= ${p('windowStart')} or exchange.window_at > excluded.window_at
      then excluded.window_at else exchange.window_at end,
    last_sender = excluded.last_sender
  returning turns, window_at as "windowAt"`)
const noteFlood = statement<{ recipientId: string; now: number; windowMs: number }>(sql`update exchange
  set blocked_until = window_at + cast(${p('windowMs')} as bigint)
  where first_id = '>' and second_id = ${p('recipientId')} and blocked_until <= ${p('now')}`)

interface Aged {
  readonly firstId: string
  readonly secondId: string
  readonly isOld: number
}

// By the key, so that a step reads a page and not the table.
const exchangePage = statement<
  { afterFirst: string; afterSecond: string; before: number; limit: number },
  Aged
>(sql`select first_id as "firstId", second_id as "secondId",
    case when window_at < ${p('before')} and blocked_until < ${p('before')} then 1 else 0 end as "isOld"
  from exchange where (first_id, second_id) > (${p('afterFirst')}, ${p('afterSecond')})
  order by first_id, second_id ${limited}`)
const dropExchange = statement<{ firstId: string; secondId: string; before: number }>(sql`delete from exchange
  where first_id = ${p('firstId')} and second_id = ${p('secondId')} and window_at < ${p('before')} and blocked_until < ${p('before')}`)
const ratePage = statement<
  { after: string; before: number; limit: number },
  { senderId: string; isOld: number }
>(sql`select sender_id as "senderId",
    case when full_at < ${p('before')} and refused_at < ${p('before')} then 1 else 0 end as "isOld"
  from send_rate where sender_id > ${p('after')} order by sender_id ${limited}`)
const dropRate = statement<{ senderId: string; before: number }>(sql`delete from send_rate
  where sender_id = ${p('senderId')} and full_at < ${p('before')} and refused_at < ${p('before')}`)

/** Counts a message against its sender's rate. False: the rate is used up, and nothing was counted. */
export async function spendRate(tx: Transaction, senderId: string, costMs: number, windowMs: number): Promise<boolean> {
  return (await tx.get(spend, { senderId, now: tx.now, costMs, windowMs })) !== undefined
}

/** Counts messages that were taken already. Returns when the sender's allowance is whole again (ms since the epoch). */
export async function addSpent(tx: Transaction, senderId: string, costMs: number): Promise<number> {
  return (await tx.get(spendMore, { senderId, now: tx.now, costMs }))!.fullAt
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

/** Counts a message against what its recipient may be sent in a window. False: that is used up, and nothing was counted. */
export async function countArrival(
  tx: Transaction,
  {
    recipientId,
    senderId,
    limit,
    windowMs,
  }: { recipientId: string; senderId: string; limit: number; windowMs: number },
): Promise<boolean> {
  const arrival = { recipientId, senderId, limit, now: tx.now, windowStart: tx.now - windowMs }
  return (await tx.get(takeIn, arrival)) !== undefined
}

/** Counts messages that a recipient was sent already. Returns the count of its window, and when that began. */
export async function addArrivals(
  tx: Transaction,
  arrivals: { recipientId: string; senderId: string; count: number; windowMs: number },
): Promise<{ turns: number; windowAt: number }> {
  const { windowMs, ...rest } = arrivals
  return (await tx.get(takeMore, { ...rest, now: tx.now, windowStart: tx.now - windowMs }))!
}

/** Closes a recipient's window. Answers whether this is its first refusal, and when the window ends (ms since the epoch). */
export async function closeWindow(
  tx: Transaction,
  recipientId: string,
  windowMs: number,
): Promise<{ isFirst: boolean; until: number }> {
  const isFirst = (await tx.run(noteFlood, { recipientId, now: tx.now, windowMs })) > 0
  return { isFirst, until: await readBlock(tx, ['>', recipientId]) }
}

/** Forgets what was counted before an instant and limits nobody any more, a page for each commit. */
export async function pruneLimits(db: Database, before: number, signal: AbortSignal): Promise<void> {
  for (let last: Aged | undefined; !signal.aborted; ) {
    const after = { afterFirst: last?.firstId ?? '', afterSecond: last?.secondId ?? '' }
    const page = await db.all(exchangePage, { ...after, before, limit: pageMax })
    const old = page.filter(({ isOld }) => isOld === 1)
    await inOneCommit(db, old, (tx, { firstId, secondId }) => tx.run(dropExchange, { firstId, secondId, before }))
    last = page.at(-1)
    if (page.length < pageMax) break
  }
  for (let after = ''; !signal.aborted; ) {
    const page = await db.all(ratePage, { after, before, limit: pageMax })
    const old = page.filter(({ isOld }) => isOld === 1)
    await inOneCommit(db, old, (tx, { senderId }) => tx.run(dropRate, { senderId, before }))
    after = page.at(-1)?.senderId ?? ''
    if (page.length < pageMax) break
  }
}

async function inOneCommit<T>(
  db: Database,
  rows: readonly T[],
  remove: (tx: Transaction, row: T) => Promise<unknown>,
): Promise<void> {
  if (rows.length === 0) return
  await db.transaction(async (tx) => {
    for (const row of rows) await remove(tx, row)
  })
}
