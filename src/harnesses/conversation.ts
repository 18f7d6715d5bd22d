import type { JsonObject } from '../lib/json.ts'
import { isOneLine } from '../lib/words.ts'

/** A harness's own description of its conversation, as far as the gateway takes it. */
export interface Conversation {
  readonly cwd?: string
  readonly sessionId?: string
}

const lengthMax = { cwd: 1_000, sessionId: 200 } as const

/** Keeps what the gateway takes: a strange directory must not cost the session. Pure. */
export function conversation(cwd: unknown, sessionId: unknown): { readonly harness?: Conversation } {
  const harness = { ...kept('cwd', cwd), ...kept('sessionId', sessionId) }
  return Object.keys(harness).length === 0 ? {} : { harness }
}

function kept(name: keyof Conversation, value: unknown): Conversation {
  const fits = typeof value === 'string' && value !== '' && value.length <= lengthMax[name] && isOneLine(value)
  return fits ? { [name]: value } : {}
}

/** The conversation that an event is of. Claude Code and its like say `session_id`, Copilot `sessionId`, Cursor `conversation_id`. */
export function conversationOf({ cwd, session_id: id, sessionId, conversation_id: conversationId }: JsonObject) {
  return conversation(cwd, id ?? sessionId ?? conversationId)
}

/** The turn that an event is of; Claude Code calls it after its prompt. */
export function turnOf({ turn_id: turn, prompt_id: prompt }: JsonObject): { activeTurnId?: string } {
  const id = turn ?? prompt
  return typeof id === 'string' && /^[\w.:-]{1,200}$/.test(id) ? { activeTurnId: id } : {}
}
