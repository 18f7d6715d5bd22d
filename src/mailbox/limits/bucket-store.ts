import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { aheadMs, type Bucket } from './bucket.ts'
import type { Charge } from './mail-limits.ts'

interface BucketRow extends Bucket {
  readonly id: string
}

const columns = sql`id, level_ms as "levelMs", counted_at as "countedAt", last_sender as "lastSender", refused_at as "refusedAt"`
const find = new ListStatement<object, BucketRow>((ids) => sql`select ${columns} from bucket where id in (${ids})`)

const passed = sql`(excluded.counted_at - bucket.counted_at)`
// `last_sender` is the sender in buckets that count turns, and '' in all others.
const add = new RowsStatement<BucketRow>(
  'text bigint bigint text',
  (rows) => sql`insert into bucket (id, level_ms, counted_at, last_sender) values ${rows}
    on conflict (id) do update set
      level_ms = case when ${passed} >= bucket.level_ms then 0
          when ${passed} > 0 then bucket.level_ms - ${passed} else bucket.level_ms end
        + case when excluded.last_sender <> '' and excluded.last_sender = bucket.last_sender then 0
          else excluded.level_ms end,
      counted_at = case when ${passed} < 0 and ${passed} >= ${sql.raw(String(-aheadMs))} then bucket.counted_at
        else excluded.counted_at end,
      last_sender = excluded.last_sender
    returning ${columns}`,
)
const refuse = statement<
  { id: string; now: number; windowMs: number },
  { id: string }
>(sql`insert into bucket (id, level_ms, counted_at, refused_at) values (${p('id')}, 0, ${p('now')}, ${p('now')})
  on conflict (id) do update set refused_at = excluded.refused_at
  where bucket.refused_at <= excluded.refused_at - cast(${p('windowMs')} as bigint) or bucket.refused_at > excluded.refused_at
  returning id`)
const page = statement<
  { after: string; before: number; ahead: number; limit: number },
  { id: string; isOver: number }
>(sql`select id, case when counted_at < ${p('before')} or counted_at > ${p('ahead')} then 1 else 0 end as "isOver"
  from bucket where id > ${p('after')} order by id ${limited}`)
const remove = statement<{ id: string; before: number; ahead: number }>(sql`delete from bucket
  where id = ${p('id')} and (counted_at < ${p('before')} or counted_at > ${p('ahead')})`)

export function readBuckets(db: Reader, ids: readonly string[]): Promise<BucketRow[]> {
  return find.all(db, {}, ids)
}

/** Adds what messages cost. Sends all statements at once, in an order that is the same for all gateways. Returns the buckets after it. */
export async function fillBuckets(tx: Transaction, charges: readonly Charge[]): Promise<BucketRow[]> {
  const rows = roundsOf(charges).map((round) =>
    [...round].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, { costMs, by }]) => [id, costMs, tx.now, by]),
  )
  return (await Promise.all(rows.map((round) => add.all(tx, round)))).flat()
}

/** Records a refusal. Returns whether it is the first one of its window. */
export async function recordRefusal(tx: Transaction, { id, windowMs }: Charge): Promise<boolean> {
  return (await tx.get(refuse, { id, windowMs, now: tx.now })) !== undefined
}

const pageMax = 200

/** Deletes the buckets that were last counted longer than `keptMs` ago, or as far ahead of now: they are empty, or of a wrong clock. */
export async function pruneBuckets(db: Database, now: number, keptMs: number, signal: AbortSignal): Promise<void> {
  const [before, ahead] = [now - keptMs, now + keptMs]
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
    const rows: { id: string; isOver: number }[] = await db.all(page, { after, before, ahead, limit: pageMax })
    const over = rows.filter(({ isOver }) => isOver === 1)
    if (over.length > 0)
      await db.transaction(async (tx) => {
        for (const { id } of over) await tx.run(remove, { id, before, ahead })
      })
    after = rows.length < pageMax ? undefined : rows.at(-1)!.id
  }
}

/** One row for each bucket in a statement. Two senders that take turns within one transaction are in several statements. */
function roundsOf(charges: readonly Charge[]): Map<string, { costMs: number; by: string }>[] {
  const rounds: Map<string, { costMs: number; by: string }>[] = []
  for (const { id, costMs, senderId, countsTurns } of charges) {
    const by = countsTurns ? senderId : ''
    const last = rounds.findLast((round) => round.has(id))?.get(id)
    if (last && last.by === by) {
      if (!countsTurns) last.costMs += costMs
      continue
    }
    const index = rounds.findLastIndex((round) => round.has(id)) + 1
    rounds[index] ??= new Map()
    rounds[index].set(id, { costMs, by })
  }
  return rounds
}
