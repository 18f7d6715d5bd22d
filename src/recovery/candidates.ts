import { walk } from '../lib/walk.ts'
import type { Reader } from '../storage/database.ts'
import { limited, p, type SQL, sql, statement } from '../storage/statement.ts'

/** An agent that recovery looks at. */
export interface Candidate {
  readonly id: string
  readonly projectId: string
  /** `@donna` */
  readonly handle: string
}

// Each condition is one look into an index. With `exists` PostgreSQL reads the unread mail of everybody at once.
const has = (rows: string): SQL => sql.raw(`(select 1 from ${rows} limit 1) is not null`)
const open = `task t where t.assignee_id = a.id and t.state in ('submitted', 'working')`
const next = statement<{ after: string; upTo: string; limit: number }, Candidate>(
  sql`select a.id, a.project_id as "projectId", a.handle from agent a where a.id > ${p('after')} and a.id <= ${p('upTo')} and (
    ${has(`message_recipient r where r.agent_id = a.id and r.status = 'sent'`)}
    or ${has(`${open} and case when t.agent_id = t.assignee_id then true else false end`)}
    or ${has(`${open} and case when t.agent_id <> t.assignee_id then true else false end`)}
    or ${has('recovery c where c.agent_id = a.id and (c.mode is not null or c.parked_until is not null)')})
  order by a.id ${limited}`,
)

const edge = statement<{ after: string; entries: number }, { id: string }>(
  sql`select id from agent where id > ${p('after')} order by id limit 1 offset cast(${p('entries')} as bigint) - 1`,
)
/** The most agents that one statement looks at: a ms or two. */
const entriesMax = 500
/** After the ids of all agents. */
const end = '~'

/**
 * Returns the next agents that have something to do, or for which recovery has something in hand, in the order of their ids. Others go on
 * between the steps.
 */
export async function nextCandidates(
  db: Reader,
  after: string,
  limit: number,
  entries = entriesMax,
): Promise<Candidate[]> {
  const found: Candidate[] = []
  const edgeAfter = async (from: string) => (await db.get(edge, { after: from, entries }))?.id
  await walk(after, edgeAfter, async (from, upTo = end) => {
    found.push(...(await db.all(next, { after: from, upTo, limit: limit - found.length })))
    return found.length >= limit
  })
  return found
}
