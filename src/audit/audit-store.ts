import { ulidFloor } from '../lib/ids.ts'
import { defaultProject } from '../registry/projects/project-store.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { deleteInBatches } from '../storage/delete-in-batches.ts'
import { RowTable } from '../storage/row-table.ts'
import { limited, p, type SQL, type Statement, sql, statement } from '../storage/statement.ts'
import { type AuditRecord, auditFields } from './entry.ts'

const audits = new RowTable('audit', auditFields)
const { columns } = audits
// Repeated refused attempts are counted on the record of the first one.
const upsert = audits.insertRows(sql`on conflict (id) do update set last_at = excluded.last_at, count = excluded.count`)

interface Page {
  project: string
  since: string
  before: string
  examined: number
}
interface Filter extends Page {
  actor: string
  operation: string
  outcome: string
  limit: number
}

const matching = sql`where (${p('actor')} = '' or actor = ${p('actor')}) and (${p('operation')} = '' or operation = ${p('operation')})
  and (${p('outcome')} = '' or outcome = ${p('outcome')}) order by id desc ${limited}`
const named = sql.raw(`'${defaultProject}'`)
const examined = sql`limit ${p('examined')}`
const ofAll = sql`from audit where id >= ${p('since')} and id < ${p('before')} order by id desc ${examined}`
const ofProject = sql`from audit where project_id = ${p('project')} and project_id <> ${named} and id >= ${p('since')}
  and id < ${p('before')} order by id desc ${examined}`

/** How the records of a part of the gateway are read: a page of them, and the oldest record that the page examined. */
interface Reading {
  readonly page: Statement<Filter, AuditRecord>
  readonly last: Statement<Page, { id: string | null; rows: number }>
}
const readingOf = (source: SQL, condition = sql`1 = 1`): Reading => ({
  page: statement(
    sql`select ${columns} from (select * from (select * ${source}) page where ${condition}) page ${matching}`,
  ),
  last: statement(sql`select min(id) as "id", count(*) as "rows" from (select id ${source}) page`),
})
const everything = readingOf(ofAll)
// The index of projects leaves out the default one, which has nearly all records of most gateways: its page examines all records.
const ofDefault = readingOf(ofAll, sql`project_id = ${named}`)
const ofOther = readingOf(ofProject)
const oldest = statement<{ before: string; limit: number }, { id: string }>(
  sql`select id from audit where id < ${p('before')} order by id ${limited}`,
)
const removeUpTo = statement<{ upTo: string }>(sql`delete from audit where id <= ${p('upTo')}`)

/** Inserts records. A record that exists gets the new count. */
export function writeAudit(tx: Transaction, records: readonly AuditRecord[]): Promise<void> {
  return upsert.run(tx, records.map(audits.valuesOf))
}

/** The most records that one page examines, however few of them match. */
const examinedMax = 10_000

interface AuditQuery {
  /** undefined: every project, and records without a project. */
  readonly project: string | undefined
  /** ms since the epoch. */
  readonly since?: number | undefined
  readonly actor?: string | undefined
  readonly operation?: string | undefined
  readonly outcome?: string | undefined
  readonly limit: number
  /** The `nextPageToken` of the page before. */
  readonly pageToken?: string | undefined
}

/**
 * Reads a page of the audit, newest first. A page examines a bounded number of records, so it may have fewer than the limit,
 * even none, and still have a next page. An empty `nextPageToken` is the end.
 */
export async function readAudit(
  db: Reader,
  query: AuditQuery,
): Promise<{ records: AuditRecord[]; nextPageToken: string }> {
  const { project, limit, actor = '', operation = '', outcome = '' } = query
  const reading = project === undefined ? everything : project === defaultProject ? ofDefault : ofOther
  const page = {
    since: ulidFloor(query.since ?? 0),
    before: query.pageToken || '~',
    examined: examinedMax,
    project: project ?? '',
  }
  const found = await db.all(reading.page, { ...page, actor, operation, outcome, limit: limit + 1 })
  const records = found.slice(0, limit)
  if (found.length > limit) return { records, nextPageToken: records.at(-1)!.id }
  const last = await db.get(reading.last, page)
  return { records, nextPageToken: last && last.rows === examinedMax ? last.id! : '' }
}

/** Deletes the records that began before an instant, oldest first. Returns how many. */
export function pruneAudit(db: Database, before: number, signal: AbortSignal): Promise<number> {
  return deleteInBatches(db, [ulidFloor(before)], removeOldest, signal)
}

async function removeOldest(tx: Transaction, before: string, limit: number): Promise<number> {
  const ids = await tx.all(oldest, { before, limit })
  const upTo = ids.at(-1)?.id
  if (upTo !== undefined) await tx.run(removeUpTo, { upTo })
  return ids.length
}
