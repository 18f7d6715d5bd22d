import type { Logger } from '../logger/logger.ts'
import type { Database, Reader } from '../storage/database.ts'
import { forUpdate, p, sql, statement } from '../storage/statement.ts'

/** After a restore a log goes on at the next multiple: no logId of the history that is gone is ever assigned again. */
const step = 1_000_000_000

const known = statement<object, { place: string }>(
  sql`select value as "place" from store_fact where name = 'place' ${forUpdate}`,
)
const savePlace = statement<{ place: string }>(sql`insert into store_fact (name, value) values ('place', ${p('place')})
  on conflict (name) do update set value = excluded.value`)
const beginAtNextStep = statement<object>(
  sql`update project set log_head = (log_head / ${sql.raw(String(step))} + 1) * ${sql.raw(String(step))}`,
)
const lastUpTo = statement<{ projectId: string; logId: number }, { logId: number }>(
  sql`select log_id as "logId" from event where project_id = ${p('projectId')} and log_id <= ${p('logId')}
    order by log_id desc limit 1`,
)

/**
 * Compares the place of a store with that of its last start. In another one it may be a backup that was restored: then the logs go on at
 * their next step, so that a position tells whether its event is still there. A copy that lost nothing makes no position invalid.
 */
export async function noteRestore(db: Database, log: Logger): Promise<void> {
  const { was, is } = await db.place()
  await db.transaction(async (tx) => {
    const before = (await tx.get(known, {}))?.place ?? (was && is)
    await tx.run(savePlace, { place: is })
    if (before === was || engineOf(before) !== engineOf(is)) return
    await tx.run(beginAtNextStep, {})
    tx.onCommit(() => log.warn({}, 'store.restored'))
  })
}

/** A store that was copied from SQLite to PostgreSQL goes on where it was. */
const engineOf = (place: string): string | undefined => place.split(':')[0]

/** Returns undefined for a position that is in the log; else the last one before it that a restore has left. */
export async function leftOf(db: Reader, projectId: string, logId: number): Promise<number | undefined> {
  if (logId % step === 0) return undefined
  const last = await db.get(lastUpTo, { projectId, logId })
  return last?.logId === logId ? undefined : (last?.logId ?? 0)
}
