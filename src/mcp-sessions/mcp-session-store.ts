import { int, type RowOf } from '../storage/columns.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { RowTable } from '../storage/row-table.ts'
import { limited, lockingStatement, p, sql, statement } from '../storage/statement.ts'
import { type LogLevel, type McpSession, mcpSessionFields } from './mcp-session.ts'

type SessionRow = RowOf<typeof mcpSessionFields>

const mcpSessions = new RowTable('mcp_session', mcpSessionFields, { createdAt: int })
const insert = mcpSessions.insert()
const byId = statement<{ id: string }, SessionRow>(
  sql`select ${mcpSessions.columns} from mcp_session where id = ${p('id')}`,
)
const lockResources = lockingStatement<{ id: string }, Pick<SessionRow, 'resources'>>(
  'mcp_session',
  sql`select resources from mcp_session where id = ${p('id')}`,
)
const use = statement<{ id: string; now: number; before: number }>(
  sql`update mcp_session set last_used_at = ${p('now')} where id = ${p('id')} and last_used_at < ${p('before')}`,
)
const setLevel = statement<{ id: string; logLevel: string }>(
  sql`update mcp_session set log_level = ${p('logLevel')} where id = ${p('id')}`,
)
const setResources = statement<{ id: string; resources: string }>(
  sql`update mcp_session set resources = ${p('resources')} where id = ${p('id')}`,
)
const setStream = statement<{ id: string; streamId: string; now: number }>(
  sql`update mcp_session set stream_id = ${p('streamId')}, last_used_at = ${p('now')} where id = ${p('id')}`,
)
const remove = statement<{ id: string }>(sql`delete from mcp_session where id = ${p('id')}`)
const unusedOfKey = statement<{ keyId: string; keep: number }, { id: string }>(
  sql`select id from mcp_session where key_id = ${p('keyId')} order by last_used_at desc, id
    limit 1000 offset ${p('keep')}`,
)
const unusedOfCaller = statement<{ callerId: string; keep: number }, { id: string }>(
  sql`select id from mcp_session where caller_id = ${p('callerId')} order by last_used_at desc, id
    limit 1000 offset ${p('keep')}`,
)
const ofKey = statement<{ keyId: string }, { id: string }>(
  sql`select id from mcp_session where key_id = ${p('keyId')} order by id`,
)
const removeKey = statement<{ keyId: string }>(sql`delete from mcp_session where key_id = ${p('keyId')}`)
const removeCaller = statement<{ callerId: string }>(sql`delete from mcp_session where caller_id = ${p('callerId')}`)
const moveKey = statement<{ from: string; to: string }>(
  sql`update mcp_session set key_id = ${p('to')} where key_id = ${p('from')}`,
)
const idle = statement<{ before: number; limit: number }, { id: string }>(
  sql`select id from mcp_session where last_used_at < ${p('before')} order by last_used_at ${limited}`,
)
const removeIdle = statement<{ id: string; before: number }>(
  sql`delete from mcp_session where id = ${p('id')} and last_used_at < ${p('before')}`,
)

export async function insertMcpSession(tx: Transaction, session: McpSession): Promise<void> {
  await tx.run(insert, { ...mcpSessions.toRow(session), createdAt: tx.now })
}

export async function findMcpSession(db: Reader, id: string): Promise<McpSession | undefined> {
  const row = await db.get(byId, { id })
  return row && mcpSessions.fromRow(row)
}

/** Returns the URIs that a session is subscribed to, and locks them until the commit. undefined: it has ended. */
export async function lockSubscribedResources(tx: Transaction, id: string): Promise<string[] | undefined> {
  const row = await tx.get(lockResources, { id })
  return row && (JSON.parse(row.resources) as string[])
}

/** Records a use, unless one was recorded within `withinMs`. */
export async function useMcpSession(tx: Transaction, id: string, withinMs: number): Promise<void> {
  await tx.run(use, { id, now: tx.now, before: tx.now - withinMs })
}

export async function setLogLevel(tx: Transaction, id: string, logLevel: LogLevel): Promise<void> {
  await tx.run(setLevel, { id, logLevel })
}

export async function setSubscribedResources(tx: Transaction, id: string, uris: readonly string[]): Promise<void> {
  await tx.run(setResources, { id, resources: JSON.stringify(uris) })
}

/** False: the session has ended. */
export async function setSessionStream(tx: Transaction, id: string, streamId: string): Promise<boolean> {
  return (await tx.run(setStream, { id, streamId, now: tx.now })) > 0
}

/** False: it had ended already. */
export async function deleteMcpSession(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.run(remove, { id })) > 0
}

/** Returns the sessions of a key, or of a caller, beyond the `keep` that were used last. */
export async function listSurplus(
  tx: Transaction,
  whose: { readonly keyId: string } | { readonly callerId: string },
  keep: number,
): Promise<string[]> {
  const rows =
    'keyId' in whose ? await tx.all(unusedOfKey, { ...whose, keep }) : await tx.all(unusedOfCaller, { ...whose, keep })
  return rows.map(({ id }) => id)
}

/** Ends the sessions that a key began. Returns their ids. */
export async function deleteMcpSessionsOfKey(tx: Transaction, keyId: string): Promise<string[]> {
  const ids = (await tx.all(ofKey, { keyId })).map(({ id }) => id)
  if (ids.length > 0) await tx.run(removeKey, { keyId })
  return ids
}

/** Ends the sessions of an agent. */
export async function deleteMcpSessionsOf(tx: Transaction, callerId: string): Promise<void> {
  await tx.run(removeCaller, { callerId })
}

export async function moveMcpSessions(tx: Transaction, from: string, to: string): Promise<void> {
  await tx.run(moveKey, { from, to })
}

/** Returns sessions that were not used since an instant. */
export async function listIdleMcpSessions(db: Reader, before: number, limit: number): Promise<string[]> {
  return (await db.all(idle, { before, limit })).map(({ id }) => id)
}

/** False: it was used meanwhile, or has ended. */
export async function deleteIdleMcpSession(tx: Transaction, id: string, before: number): Promise<boolean> {
  return (await tx.run(removeIdle, { id, before })) > 0
}
