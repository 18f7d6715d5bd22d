import type { Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

interface Range {
  projectId: string
  ownerId: string
  limit: number
}

const counted = statement<Range, { count: number }>(
  sql`select count(*) as "count" from (
    select ref from claim where owner_id = ${p('ownerId')} and project_id = ${p('projectId')} ${limited}) page`,
)
const finishedOfOwner = statement<Range, { ref: string }>(
  sql`select c.ref from claim c join task t on t.id = c.ref
    where c.owner_id = ${p('ownerId')} and c.project_id = ${p('projectId')}
    and t.state in ('completed', 'failed', 'canceled', 'rejected') order by c.ref ${limited}`,
)
const remove = statement<{ projectId: string; ref: string; ownerId: string }>(
  sql`delete from claim where project_id = ${p('projectId')} and ref = ${p('ref')} and owner_id = ${p('ownerId')}`,
)

/** Counts the claims of an owner in a project, up to `limit`. */
export async function countClaims(db: Reader, range: Range): Promise<number> {
  return (await db.get(counted, range))?.count ?? 0
}

/** Whether an owner has a claim whose ref is a finished task. */
export async function hasFinishedClaim(db: Reader, { projectId, ownerId }: Omit<Range, 'limit'>): Promise<boolean> {
  return (await db.get(finishedOfOwner, { projectId, ownerId, limit: 1 })) !== undefined
}

/** Deletes claims of an owner whose refs are finished tasks. Returns the refs. */
export async function removeFinishedClaims(tx: Transaction, range: Range): Promise<string[]> {
  const { projectId, ownerId } = range
  const removed: string[] = []
  for (const { ref } of await tx.all(finishedOfOwner, range)) {
    // Another transaction may have been first.
    if ((await tx.run(remove, { projectId, ref, ownerId })) > 0) removed.push(ref)
  }
  return removed
}
