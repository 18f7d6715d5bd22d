import type { Database, Transaction } from '../storage/database.ts'
import { deleteInBatches } from '../storage/delete-in-batches.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

interface Audience {
  projectId: string
  audience: string
  trigger: string
}
interface Aged extends Audience {
  upTo: number
}

const prunedPositions = statement<object, { projectId: string; prunedTo: number }>(
  sql`select id as "projectId", log_tail as "prunedTo" from project`,
)
const oldest = statement<{ projectId: string; limit: number }, { logId: number; createdAt: number }>(
  sql`select log_id as "logId", created_at as "createdAt" from event where project_id = ${p('projectId')}
    and log_id > (select log_tail from project where id = ${p('projectId')}) order by log_id ${limited}`,
)
const removeEvents = statement<{ projectId: string; upTo: number }>(
  sql`delete from event where project_id = ${p('projectId')} and log_id <= ${p('upTo')}`,
)
// The head does not move, so no logId is ever assigned twice.
const setPrunedTo = statement<{ projectId: string; upTo: number }>(
  sql`update project set log_tail = ${p('upTo')} where id = ${p('projectId')} and log_tail < ${p('upTo')}`,
)
// Goes from one audience to the next by the key, without reading the rows between: with less than the whole key SQLite reads them.
const nextAudience = statement<
  Audience,
  Audience & { oldest: number }
>(sql`select audience, project_id as "projectId", trigger, log_id as "oldest" from event_audience
  where (audience, project_id, trigger, log_id) > (${p('audience')}, ${p('projectId')}, ${p('trigger')}, ${sql.raw(`${Number.MAX_SAFE_INTEGER}`)})
  order by audience, project_id, trigger, log_id limit 1`)
const ofAudience = sql`audience = ${p('audience')} and project_id = ${p('projectId')} and trigger = ${p('trigger')}`
const removeAudience = statement<Aged & { limit: number }>(sql`delete from event_audience
  where ${ofAudience} and log_id <= (select max(log_id) from (
    select log_id from event_audience where ${ofAudience} and log_id <= ${p('upTo')} order by log_id ${limited}) page)`)

/**
 * Removes the events that were appended before an instant, oldest first, and records for each project up to which logId its log is
 * pruned: an older watermark is answered with an error, never skipped in silence. Returns how many events it removed.
 */
export async function pruneEvents(db: Database, before: number, signal: AbortSignal): Promise<number> {
  const aged: string[] = []
  for (const { projectId } of await db.all(prunedPositions, {})) {
    const first = await db.get(oldest, { projectId, limit: 1 })
    if (first && first.createdAt < before) aged.push(projectId)
  }
  const step = (tx: Transaction, projectId: string, limit: number) => pruneOldest(tx, projectId, before, limit)
  const pruned = await deleteInBatches(db, aged, step, signal)
  if (pruned > 0) await pruneAudiences(db, signal)
  return pruned
}

async function pruneOldest(tx: Transaction, projectId: string, before: number, limit: number): Promise<number> {
  const rows = await tx.all(oldest, { projectId, limit })
  const young = rows.findIndex(({ createdAt }) => createdAt >= before)
  const count = young < 0 ? rows.length : young
  const upTo = rows[count - 1]?.logId
  if (upTo === undefined) return 0
  await tx.run(removeEvents, { projectId, upTo })
  await tx.run(setPrunedTo, { projectId, upTo })
  return count
}

const pageMax = 100

/**
 * Removes the index rows of removed events. No reader sees such rows, because every query joins the event. Rows that are left after
 * a crash are removed with the next events.
 */
async function pruneAudiences(db: Database, signal: AbortSignal): Promise<void> {
  const prunedToOf = new Map(
    (await db.all(prunedPositions, {})).map(({ projectId, prunedTo }) => [projectId, prunedTo]),
  )
  const remove = (tx: Transaction, item: Aged, limit: number) => tx.run(removeAudience, { ...item, limit })
  let next = await db.get(nextAudience, { audience: '', projectId: '', trigger: '' })
  while (next && !signal.aborted) {
    const aged: Aged[] = []
    for (let read = 0; next && read < pageMax; read++) {
      const upTo = prunedToOf.get(next.projectId) ?? Number.MAX_SAFE_INTEGER
      if (next.oldest <= upTo) aged.push({ ...next, upTo })
      next = await db.get(nextAudience, next)
    }
    await deleteInBatches(db, aged, remove, signal)
    await new Promise(setImmediate)
  }
}
