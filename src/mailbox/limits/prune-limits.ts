import type { Database, Transaction } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'

const pageMax = 200

interface ExchangeRow {
  readonly firstId: string
  readonly secondId: string
  readonly isOver: number
}

// Read in the order of the key, so that a step reads one page and not the whole table.
const exchangePage = statement<
  { afterFirst: string; afterSecond: string; before: number; limit: number },
  ExchangeRow
>(sql`select first_id as "firstId", second_id as "secondId",
    case when window_at < ${p('before')} and blocked_until < ${p('before')} then 1 else 0 end as "isOver"
  from exchange where (first_id, second_id) > (${p('afterFirst')}, ${p('afterSecond')})
  order by first_id, second_id ${limited}`)
const deleteExchange = statement<{ firstId: string; secondId: string; before: number }>(sql`delete from exchange
  where first_id = ${p('firstId')} and second_id = ${p('secondId')} and window_at < ${p('before')} and blocked_until < ${p('before')}`)
const ratePage = statement<
  { after: string; before: number; limit: number },
  { senderId: string; isOver: number }
>(sql`select sender_id as "senderId",
    case when full_at < ${p('before')} and refused_at < ${p('before')} then 1 else 0 end as "isOver"
  from send_rate where sender_id > ${p('after')} order by sender_id ${limited}`)
const deleteRate = statement<{ senderId: string; before: number }>(sql`delete from send_rate
  where sender_id = ${p('senderId')} and full_at < ${p('before')} and refused_at < ${p('before')}`)

/** Deletes counters from before an instant that no longer limit anybody, one page in a transaction. */
export async function pruneLimits(db: Database, before: number, signal: AbortSignal): Promise<void> {
  for (let last: ExchangeRow | undefined; !signal.aborted; ) {
    const after = { afterFirst: last?.firstId ?? '', afterSecond: last?.secondId ?? '' }
    const page = await db.all(exchangePage, { ...after, before, limit: pageMax })
    const old = page.filter(({ isOver }) => isOver === 1)
    await inOneTransaction(db, old, (tx, { firstId, secondId }) =>
      tx.run(deleteExchange, { firstId, secondId, before }),
    )
    last = page.at(-1)
    if (page.length < pageMax) break
  }
  for (let after = ''; !signal.aborted; ) {
    const page = await db.all(ratePage, { after, before, limit: pageMax })
    const old = page.filter(({ isOver }) => isOver === 1)
    await inOneTransaction(db, old, (tx, { senderId }) => tx.run(deleteRate, { senderId, before }))
    after = page.at(-1)?.senderId ?? ''
    if (page.length < pageMax) break
  }
}

async function inOneTransaction<T>(
  db: Database,
  rows: readonly T[],
  remove: (tx: Transaction, row: T) => Promise<unknown>,
): Promise<void> {
  if (rows.length === 0) return
  await db.transaction(async (tx) => {
    for (const row of rows) await remove(tx, row)
  })
}
