import type { Database, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

const oldest = statement<{ projectId: string; after: number; limit: number }, { logId: number; createdAt: number }>(
  sql`select log_id as "logId", created_at as "createdAt" from event
    where project_id = ${p('projectId')} and log_id > ${p('after')} order by log_id limit ${p('limit')}`,
)
const removeEvents = statement<{ projectId: string; upTo: number }>(
  sql`delete from event where project_id = ${p('projectId')} and log_id <= ${p('upTo')}`,
)
const moveTail = statement<{ projectId: string; upTo: number }>(
  sql`update project set log_tail = ${p('upTo')} where id = ${p('projectId')} and log_tail < ${p('upTo')}`,
)
const projects = statement<object, { id: string; tail: number }>(sql`select id, log_tail as "tail" from project`)
const nextAudience = statement<{ after: string }, { audience: string }>(
  sql`select audience from event_audience where audience > ${p('after')} order by audience limit 1`,
)
const removeAudience = statement<{ audience: string; upTo: number }>(
  sql`delete from event_audience where audience = ${p('audience')} and log_id <= ${p('upTo')}`,
)
const audienceProject = statement<{ audience: string }, { projectId: string }>(
  sql`select project_id as "projectId" from agent where id = ${p('audience')}`,
)

/** How many rows go in one transaction: writers wait for a step, never for the whole. */
const stepMax = 500

/**
 * Prunes events older than `before` (ms since the epoch), oldest first, in small steps, and moves each project's tail: a watermark
 * older than the tail is told so, never skipped in silence. Answers how many events went.
 */
export async function pruneEvents(db: Database, before: number, signal: AbortSignal): Promise<number> {
  let pruned = 0
  for (const project of await db.all(projects, {})) {
    let { tail } = project
    while (!signal.aborted) {
      const step = await db.transaction((tx) => pruneStep(tx, project.id, tail, before))
      pruned += step.count
      tail = step.tail
      if (step.count < stepMax) break
    }
  }
  if (pruned > 0) await pruneAudiences(db, signal)
  return pruned
}

async function pruneStep(
  tx: Transaction,
  projectId: string,
  after: number,
  before: number,
): Promise<{ count: number; tail: number }> {
  const rows = await tx.all(oldest, { projectId, after, limit: stepMax })
  const young = rows.findIndex((row) => row.createdAt >= before)
  const old = young < 0 ? rows : rows.slice(0, young)
  const upTo = old.at(-1)?.logId
  if (upTo === undefined) return { count: 0, tail: after }
  await tx.run(removeEvents, { projectId, upTo })
  await tx.run(moveTail, { projectId, upTo })
  return { count: old.length, tail: upTo }
}

/** The index of whom events concern, one audience a step. Rows whose event is gone are never read as events. */
async function pruneAudiences(db: Database, signal: AbortSignal): Promise<void> {
  const tails = new Map((await db.all(projects, {})).map(({ id, tail }) => [id, tail]))
  let after = ''
  while (!signal.aborted) {
    const next = await db.get(nextAudience, { after })
    if (!next) return
    after = next.audience
    const owner = await db.get(audienceProject, { audience: after })
    const upTo = owner ? tails.get(owner.projectId) : Number.MAX_SAFE_INTEGER
    if (upTo) await db.transaction((tx) => tx.run(removeAudience, { audience: after, upTo }))
  }
}
