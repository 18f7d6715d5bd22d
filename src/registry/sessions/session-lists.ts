import { readBoundedPage } from '../../lib/bounded-page.ts'
import { sizeLimits } from '../../limits.ts'
import type { Reader } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { lateFilter, limited, ownedBetween, p, type SQL, sql, statement } from '../../storage/statement.ts'
import type { Session } from './session.ts'
import { type SessionRow, sessions } from './session-store.ts'

const liveOf = statement<{ agentId: string }, SessionRow>(
  sql`select ${sessions.columns} from session where agent_id = ${p('agentId')} and ended_at is null`,
)
const liveOfAgents = new ListStatement<object, SessionRow>(
  (ids) => sql`select ${sessions.columns} from session where agent_id in (${ids}) and ended_at is null`,
)
const liveOfProject = statement<{ projectId: string; before: string; limit: number }, SessionRow>(
  sql`select ${sessions.columns} from session where project_id = ${p('projectId')} and id < ${p('before')} and ended_at is null
    order by id desc ${limited}`,
)
const endedBefore = ownedBetween({ owner: 'agent_id', id: 'id' }, p('agentId'), { before: sql`${p('before')}` })
const endedOfAgent = statement<{ agentId: string; before: string; limit: number }, SessionRow>(
  sql`select ${sessions.columns} from session where ${endedBefore}
    and ended_at is not null order by agent_id desc, id desc ${limited}`,
)
const endedOfProject = statement<{ projectId: string; before: string; limit: number }, SessionRow>(
  sql`select ${sessions.columns} from session where project_id = ${p('projectId')} and id < ${p('before')} and ended_at is not null
    order by id desc ${limited}`,
)
const liveOfKey = statement<{ keyId: string }, SessionRow>(
  sql`select ${sessions.columns} from session where key_id = ${p('keyId')} and ended_at is null order by id`,
)
const presentIn = statement<{ projectId: string }, { agentId: string }>(
  sql`select agent_id as "agentId" from session where project_id = ${p('projectId')} and ended_at is null order by id`,
)
const awaitingApproval = (owner: SQL) =>
  statement<{ owner: string; limit: number }, SessionRow>(
    sql`select ${sessions.columns} from session where ${owner} = ${p('owner')} and ended_at is null
      and ${lateFilter(sql`state = 'waitingOnApproval'`)} order by id ${limited}`,
  )
const approvals = { agent: awaitingApproval(sql`agent_id`), project: awaitingApproval(sql`project_id`) }
const live = statement<object, { count: number }>(sql`select count(*) as "count" from session where ended_at is null`)
const silent = statement<{ before: number; limit: number }, SessionRow>(
  sql`select ${sessions.columns} from session where ended_at is null and last_seen_at < ${p('before')} order by last_seen_at ${limited}`,
)

/** Returns the live session of an agent, if there is one. Source: S2-3, D12. */
export async function newestLiveSession(db: Reader, agentId: string): Promise<Session | undefined> {
  const row = await db.get(liveOf, { agentId })
  return row && sessions.fromRow(row)
}

/** Returns the live sessions of agents by the agent. */
export async function findLiveSessions(db: Reader, agentIds: readonly string[]): Promise<Map<string, Session>> {
  const rows = await liveOfAgents.all(db, {}, agentIds)
  return new Map(rows.map((row) => [row.agentId, sessions.fromRow(row)]))
}

/** Returns the live sessions that a key started. */
export async function listSessionsOfKey(db: Reader, keyId: string): Promise<Session[]> {
  return (await db.all(liveOfKey, { keyId })).map(sessions.fromRow)
}

/** Whose sessions: those of an agent or of a project. */
export type SessionOwner = { readonly agentId: string } | { readonly projectId: string }

export interface SessionPage {
  /** The id of the last session of the previous page; `''`: from the newest. */
  readonly before: string
  readonly limit: number
}

/** A page of sessions. `more`: others follow its last one. `size`: of what was read, in characters. */
export interface Sessions {
  readonly items: readonly Session[]
  readonly more: boolean
  readonly size: number
}

/** Reads a page of live sessions, newest first; an agent has one at most. Large ones make it shorter. */
export function pageLiveSessions(db: Reader, of: SessionOwner, page: SessionPage): Promise<Sessions> {
  return readPage(page, async (range) => {
    if ('projectId' in of) return db.all(liveOfProject, { ...of, ...range })
    return (await db.all(liveOf, of)).filter(({ id }) => id < range.before)
  })
}

/** The same for ended sessions. */
export function pageEndedSessions(db: Reader, of: SessionOwner, page: SessionPage): Promise<Sessions> {
  return readPage(page, (range) =>
    'agentId' in of ? db.all(endedOfAgent, { ...of, ...range }) : db.all(endedOfProject, { ...of, ...range }),
  )
}

async function readPage(
  { before, limit }: SessionPage,
  readRows: (range: SessionPage) => Promise<SessionRow[]>,
): Promise<Sessions> {
  const read = (last: SessionRow | undefined, count: number) =>
    readRows({ before: last?.id ?? (before || 't'), limit: count })
  const bounds = { limit, sizeMax: sizeLimits.page.max, sizeOf: sizeOfRow }
  const { items, ...page } = await readBoundedPage(read, bounds)
  return { items: items.map(sessions.fromRow), ...page }
}

/** The view of a session has its capabilities twice: they are those of its presence too. */
const sizeOfRow = ({ capabilities, cwd, harnessSessionId }: SessionRow): number =>
  2 * capabilities.length + (cwd?.length ?? 0) + (harnessSessionId?.length ?? 0)

/** Returns the live sessions whose harness waits for an approval. */
export async function listAwaitingApproval(db: Reader, of: SessionOwner, limit: number): Promise<Session[]> {
  const rows =
    'agentId' in of
      ? await db.all(approvals.agent, { owner: of.agentId, limit })
      : await db.all(approvals.project, { owner: of.projectId, limit })
  return rows.map(sessions.fromRow)
}

/** Returns the agents of a project that have a live session. */
export async function listPresentAgents(db: Reader, projectId: string): Promise<string[]> {
  return (await db.all(presentIn, { projectId })).map(({ agentId }) => agentId)
}

/** Counts the live sessions of all projects. */
export async function countLiveSessions(db: Reader): Promise<number> {
  return (await db.get(live, {}))?.count ?? 0
}

/** Returns live sessions without a sign of life since an instant, the longest silence first. */
export async function listSilentSessions(db: Reader, before: number, limit: number): Promise<Session[]> {
  return (await db.all(silent, { before, limit })).map(sessions.fromRow)
}
