import { type SQL, sql } from '../../storage/statement.ts'
import type { Session } from './session.ts'

/** A row of the table of sessions. */
export interface SessionRow extends Omit<Session, 'capabilities'> {
  capabilities: string
}

export const columns: SQL =
  sql.raw(`id, project_id as "projectId", agent_id as "agentId", surface, capabilities, pid, process_started_at as "processStartedAt",
  state, source, active_turn_id as "activeTurnId", presence_at as "presenceAt", context_tokens as "contextTokens", acted_at as "actedAt", last_seen_at as "lastSeenAt", created_at as "createdAt",
  ended_at as "endedAt", end_reason as "endReason", successor_id as "successorId", key_id as "keyId",
  cwd, harness_session_id as "harnessSessionId"`)

export function fromRow(row: SessionRow): Session {
  return { ...row, capabilities: JSON.parse(row.capabilities) as string[] }
}
