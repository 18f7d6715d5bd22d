import { readBoundedPage } from '../../lib/bounded-page.ts'
import { outputLimits } from '../../limits.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { limited, p, type SQL, sql, statement } from '../../storage/statement.ts'
import type { PresenceSource, PresenceState } from './presence.ts'
import type { Conversation, EndReason, Process, Session } from './session.ts'

interface SessionRow extends Omit<Session, 'capabilities'> {
  capabilities: string
}

const columns: SQL =
  sql.raw(`id, project_id as "projectId", agent_id as "agentId", surface, capabilities, pid, process_started_at as "processStartedAt",
  state, source, active_turn_id as "activeTurnId", presence_at as "presenceAt", last_seen_at as "lastSeenAt", created_at as "createdAt",
  ended_at as "endedAt", end_reason as "endReason", successor_id as "successorId", key_id as "keyId",
  cwd, harness_session_id as "harnessSessionId"`)

const insert =
  statement<SessionRow>(sql`insert into session (id, project_id, agent_id, surface, capabilities, pid, process_started_at,
    key_id, last_seen_at, created_at)
  values (${p('id')}, ${p('projectId')}, ${p('agentId')}, ${p('surface')}, ${p('capabilities')}, ${p('pid')}, ${p('processStartedAt')},
    ${p('keyId')}, ${p('lastSeenAt')}, ${p('createdAt')})`)
const continueLive = statement<{
  id: string
  surface: string
  capabilities: string
  keyId: string | null
  now: number
}>(sql`update session
  set surface = ${p('surface')}, capabilities = ${p('capabilities')}, key_id = ${p('keyId')}, last_seen_at = ${p('now')}, ended_at = null, end_reason = null
  where id = ${p('id')} and (ended_at is null or end_reason = 'timeout')`)
// An ended process can do nothing any more, and the rows of ended sessions stay for weeks.
const end = statement<{ id: string; reason: string; successorId: string | null; now: number }>(sql`update session
  set ended_at = ${p('now')}, capabilities = '[]', end_reason = ${p('reason')}, successor_id = ${p('successorId')} where id = ${p('id')} and ended_at is null`)
const endSilent = statement<{ id: string; before: number; now: number }>(sql`update session
  set ended_at = ${p('now')}, capabilities = '[]', end_reason = 'timeout' where id = ${p('id')} and ended_at is null and last_seen_at < ${p('before')}`)
const see = statement<{ id: string; now: number; before: number }>(sql`update session set last_seen_at = ${p('now')}
  where id = ${p('id')} and ended_at is null and (last_seen_at <= ${p('before')} or last_seen_at > ${p('now')})`)
const setPresence = statement<{
  id: string
  state: string
  source: string
  activeTurnId: string | null
  capabilities: string | null
  now: number
}>(sql`update session set state = ${p('state')}, source = ${p('source')}, active_turn_id = ${p('activeTurnId')},
    capabilities = coalesce(cast(${p('capabilities')} as text), capabilities), presence_at = ${p('now')}, last_seen_at = ${p('now')}
  where id = ${p('id')} and ended_at is null`)
const setConversation = statement<{
  id: string
  cwd: string | null
  sessionId: string | null
}>(sql`update session set cwd = coalesce(cast(${p('cwd')} as text), cwd),
    harness_session_id = coalesce(cast(${p('sessionId')} as text), harness_session_id)
  where id = ${p('id')} and ended_at is null`)
const byId = statement<{ id: string }, SessionRow>(sql`select ${columns} from session where id = ${p('id')}`)
const liveOf = statement<{ agentId: string }, SessionRow>(
  sql`select ${columns} from session where agent_id = ${p('agentId')} and ended_at is null`,
)
const ofProcess = statement<
  { agentId: string; pid: number; processStartedAt: number },
  SessionRow
>(sql`select ${columns} from session
  where agent_id = ${p('agentId')} and pid = ${p('pid')} and process_started_at = ${p('processStartedAt')}
    and (ended_at is null or end_reason = 'timeout') order by id desc limit 1`)
const liveOfAgents = new ListStatement<object, SessionRow>(
  (ids) => sql`select ${columns} from session where agent_id in (${ids}) and ended_at is null`,
)
const liveOfProject = statement<{ projectId: string; before: string; limit: number }, SessionRow>(
  sql`select ${columns} from session where project_id = ${p('projectId')} and id < ${p('before')} and ended_at is null
    order by id desc ${limited}`,
)
const endedOfAgent = statement<{ agentId: string; before: string; limit: number }, SessionRow>(
  sql`select ${columns} from session where agent_id = ${p('agentId')} and id < ${p('before')} and ended_at is not null
    order by id desc ${limited}`,
)
const endedOfProject = statement<{ projectId: string; before: string; limit: number }, SessionRow>(
  sql`select ${columns} from session where project_id = ${p('projectId')} and id < ${p('before')} and ended_at is not null
    order by id desc ${limited}`,
)
const liveOfKey = statement<{ keyId: string }, SessionRow>(
  sql`select ${columns} from session where key_id = ${p('keyId')} and ended_at is null order by id`,
)
const presentIn = statement<{ projectId: string }, { agentId: string }>(
  sql`select agent_id as "agentId" from session where project_id = ${p('projectId')} and ended_at is null order by id`,
)
const silent = statement<{ before: number; limit: number }, SessionRow>(
  sql`select ${columns} from session where ended_at is null and last_seen_at < ${p('before')} order by last_seen_at ${limited}`,
)
const anyEndedBefore = statement<{ before: number }, { one: number }>(
  sql`select 1 as "one" from session where ended_at is not null and ended_at < ${p('before')} limit 1`,
)
const removeEnded = statement<{ before: number; limit: number }>(sql`delete from session where id in (
  select id from session where ended_at is not null and ended_at < ${p('before')} order by ended_at ${limited})`)
const removeEndedOf = statement<{ agentId: string; limit: number }>(sql`delete from session where id in (
  select id from session where agent_id = ${p('agentId')} and ended_at is not null order by id ${limited})`)
const removeOf = statement<{ agentId: string }>(sql`delete from session where agent_id = ${p('agentId')}`)

export async function insertSession(tx: Transaction, session: Session): Promise<void> {
  await tx.run(insert, { ...session, capabilities: JSON.stringify(session.capabilities) })
}

/** Continues a session that is live, or that ended by a timeout. */
export async function continueSession(
  tx: Transaction,
  id: string,
  { surface, capabilities, keyId }: Pick<Session, 'surface' | 'capabilities' | 'keyId'>,
): Promise<void> {
  await tx.run(continueLive, { id, surface, capabilities: JSON.stringify(capabilities), keyId, now: tx.now })
}

/** Each of these returns false if the session had ended already. */
export async function endSession(
  tx: Transaction,
  id: string,
  reason: EndReason,
  successorId: string | null = null,
): Promise<boolean> {
  return (await tx.run(end, { id, reason, successorId, now: tx.now })) > 0
}

export async function endSilentSession(tx: Transaction, id: string, before: number): Promise<boolean> {
  return (await tx.run(endSilent, { id, before, now: tx.now })) > 0
}

/** Records a sign of life, unless one was recorded within `withinMs`. */
export async function seeSession(tx: Transaction, id: string, withinMs = 0, now = tx.now): Promise<void> {
  await tx.run(see, { id, now, before: now - withinMs })
}

/** A report of presence. Without `capabilities` the stored ones are kept. */
export interface PresenceReport {
  readonly state: PresenceState
  readonly source: PresenceSource
  readonly activeTurnId?: string | undefined
  readonly capabilities?: readonly string[] | undefined
}

export async function savePresence(tx: Transaction, id: string, report: PresenceReport): Promise<boolean> {
  const { state, source, activeTurnId = null, capabilities } = report
  const list = capabilities === undefined ? null : JSON.stringify(capabilities)
  return (await tx.run(setPresence, { id, state, source, activeTurnId, capabilities: list, now: tx.now })) > 0
}

/** Records what the harness says of its conversation. Without a word of it there is nothing to do. */
export async function saveConversation(
  tx: Transaction,
  id: string,
  { cwd, sessionId }: Conversation = {},
): Promise<void> {
  if (cwd === undefined && sessionId === undefined) return
  await tx.run(setConversation, { id, cwd: cwd ?? null, sessionId: sessionId ?? null })
}

export async function findSession(db: Reader, id: string): Promise<Session | undefined> {
  const row = await db.get(byId, { id })
  return row && fromRow(row)
}

/** Returns the live session of an agent, if there is one. Source: S2-3, D12. */
export async function newestLiveSession(db: Reader, agentId: string): Promise<Session | undefined> {
  const row = await db.get(liveOf, { agentId })
  return row && fromRow(row)
}

/** Returns the session that a process may continue: it is live, or it ended by a timeout. */
export async function findSessionOfProcess(
  db: Reader,
  agentId: string,
  { pid, processStartedAt }: Process,
): Promise<Session | undefined> {
  if (pid === null || processStartedAt === null) return undefined
  const row = await db.get(ofProcess, { agentId, pid, processStartedAt })
  return row && fromRow(row)
}

/** Returns the live sessions of agents by the agent. */
export async function findLiveSessions(db: Reader, agentIds: readonly string[]): Promise<Map<string, Session>> {
  const rows = await liveOfAgents.all(db, {}, agentIds)
  return new Map(rows.map((row) => [row.agentId, fromRow(row)]))
}

/** Returns the live sessions that a key started. */
export async function listSessionsOfKey(db: Reader, keyId: string): Promise<Session[]> {
  return (await db.all(liveOfKey, { keyId })).map(fromRow)
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
  const bounds = { limit, sizeMax: outputLimits.sessionPage.max, sizeOf: sizeOfRow }
  const { items, ...page } = await readBoundedPage(read, bounds)
  return { items: items.map(fromRow), ...page }
}

/** The view of a session has its capabilities twice: they are those of its presence too. */
const sizeOfRow = ({ capabilities, cwd, harnessSessionId }: SessionRow): number =>
  2 * capabilities.length + (cwd?.length ?? 0) + (harnessSessionId?.length ?? 0)

/** Returns the agents of a project that have a live session. */
export async function listPresentAgents(db: Reader, projectId: string): Promise<string[]> {
  return (await db.all(presentIn, { projectId })).map(({ agentId }) => agentId)
}

/** Returns live sessions without a sign of life since an instant, the longest silence first. */
export async function listSilentSessions(db: Reader, before: number, limit: number): Promise<Session[]> {
  return (await db.all(silent, { before, limit })).map(fromRow)
}

export async function hasEndedBefore(db: Reader, before: number): Promise<boolean> {
  return (await db.get(anyEndedBefore, { before })) !== undefined
}

/** Removes sessions that ended before an instant, oldest first. Returns how many were removed. */
export function removeEndedSessions(tx: Transaction, before: number, limit: number): Promise<number> {
  return tx.run(removeEnded, { before, limit })
}

/** Deletes up to `limit` ended sessions of an agent. Returns how many. */
export function deleteEndedSessionsOf(tx: Transaction, agentId: string, limit: number): Promise<number> {
  return tx.run(removeEndedOf, { agentId, limit })
}

export async function deleteSessionsOf(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(removeOf, { agentId })
}

function fromRow(row: SessionRow): Session {
  return { ...row, capabilities: JSON.parse(row.capabilities) as string[] }
}
