import type { Io } from '../client/io.ts'
import type { JsonObject } from '../lib/json.ts'
import { conversation } from './conversation.ts'

/** The conversation that an event is of. Claude Code and its like say `session_id`, Copilot `sessionId`, Cursor `conversation_id`. */
export function conversationOf({ cwd, session_id: id, sessionId, conversation_id: conversationId }: JsonObject) {
  return conversation(cwd, id ?? sessionId ?? conversationId)
}

/** The turn that an event is of; Claude Code calls it after its prompt. */
export function turnOf({ turn_id: turn, prompt_id: prompt }: JsonObject): { activeTurnId?: string } {
  const id = turn ?? prompt
  return typeof id === 'string' && /^[\w.:-]{1,200}$/.test(id) ? { activeTurnId: id } : {}
}

/** Claude Code tells its hooks whether a person is at the terminal. */
export function isUnattended({
  CLAUDE_CODE_SESSION_ATTENDED: attended,
  CLAUDE_CODE_ENTRYPOINT: entry,
}: Io['env']): boolean {
  return attended === '0' || (attended === undefined && entry?.startsWith('sdk') === true)
}
