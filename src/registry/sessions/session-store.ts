import type { RowOf } from '../../storage/columns.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { RowTable } from '../../storage/row-table.ts'
import { limited, ownedBetween, p, sql, statement } from '../../storage/statement.ts'
import type { PresenceSource, PresenceState } from '../../words/presence.ts'
import { type Conversation, type EndReason, type Process, type Session, sessionFields } from './session.ts'

export const sessions = new RowTable('session', sessionFields)
export type SessionRow = RowOf<typeof sessionFields>
const insert = sessions.insert()
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
const act = statement<{ id: string; now: number }>(sql`update session set acted_at = ${p('now')}
  where id = ${p('id')} and ended_at is null and (acted_at < ${p('now')} or acted_at > ${p('now')})`)
const setPresence = statement<{
  id: string
  state: string
  source: string
  activeTurnId: string | null
  capabilities: string | null
  contextTokens: number | null
  inTurn: number
  now: number
}>(sql`update session set state = ${p('state')}, source = ${p('source')}, active_turn_id = ${p('activeTurnId')},
    capabilities = coalesce(cast(${p('capabilities')} as text), capabilities), presence_at = ${p('now')}, last_seen_at = ${p('now')},
    context_tokens = coalesce(cast(${p('contextTokens')} as bigint), context_tokens),
    acted_at = case when cast(${p('inTurn')} as bigint) = 1 or state in ('active', 'waitingOnApproval')
      then cast(${p('now')} as bigint) else acted_at end
  where id = ${p('id')} and ended_at is null`)
const setConversation = statement<{
  id: string
  cwd: string | null
  sessionId: string | null
}>(sql`update session set cwd = coalesce(cast(${p('cwd')} as text), cwd),
    harness_session_id = coalesce(cast(${p('sessionId')} as text), harness_session_id)
  where id = ${p('id')} and ended_at is null`)
const byId = statement<{ id: string }, SessionRow>(sql`select ${sessions.columns} from session where id = ${p('id')}`)
const ofProcess = statement<
  { agentId: string; pid: number; processStartedAt: number },
  SessionRow
>(sql`select ${sessions.columns} from session
  where agent_id = ${p('agentId')} and pid = ${p('pid')} and process_started_at = ${p('processStartedAt')}
    and (ended_at is null or end_reason = 'timeout') order by id desc limit 1`)
const anyEndedBefore = statement<{ before: number }, { one: number }>(
  sql`select 1 as "one" from session where ended_at is not null and ended_at < ${p('before')} limit 1`,
)
const removeEnded = statement<{ before: number; limit: number }>(sql`delete from session where id in (
  select id from session where ended_at is not null and ended_at < ${p('before')} order by ended_at ${limited})`)
const removeEndedOf = statement<{ agentId: string; limit: number }>(sql`delete from session where id in (
  select id from session where ${ownedBetween({ owner: 'agent_id', id: 'id' }, p('agentId'))} and ended_at is not null
  order by agent_id, id ${limited})`)
const removeOf = statement<{ agentId: string }>(sql`delete from session where agent_id = ${p('agentId')}`)

export async function insertSession(tx: Transaction, session: Session): Promise<void> {
  await tx.run(insert, sessions.toRow(session))
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

/** Records an act of the harness itself. */
export async function noteAct(tx: Transaction, id: string, now: number): Promise<void> {
  await tx.run(act, { id, now })
}

/** A report of presence. Without `capabilities` the stored ones are kept. */
export interface PresenceReport {
  readonly state: PresenceState
  readonly source: PresenceSource
  readonly activeTurnId?: string | undefined
  readonly capabilities?: readonly string[] | undefined
  readonly contextTokens?: number | undefined
}

const inTurn: readonly PresenceState[] = ['active', 'waitingOnApproval']

/** Writes a report. A turn is an act of the harness while it is open, and at its end. */
export async function savePresence(tx: Transaction, id: string, report: PresenceReport): Promise<boolean> {
  const { state, source, activeTurnId = null, capabilities, contextTokens = null } = report
  const list = capabilities === undefined ? null : JSON.stringify(capabilities)
  return (
    (await tx.run(setPresence, {
      id,
      state,
      source,
      activeTurnId,
      capabilities: list,
      contextTokens,
      inTurn: inTurn.includes(state) ? 1 : 0,
      now: tx.now,
    })) > 0
  )
}

/** Records what the harness reports of its conversation. Without a report there is nothing to do. */
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
  return row && sessions.fromRow(row)
}

/** Returns the session that a process may continue: it is live, or it ended by a timeout. */
export async function findSessionOfProcess(
  db: Reader,
  agentId: string,
  { pid, processStartedAt }: Process,
): Promise<Session | undefined> {
  if (pid === null || processStartedAt === null) return undefined
  const row = await db.get(ofProcess, { agentId, pid, processStartedAt })
  return row && sessions.fromRow(row)
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
