import type { V1Message } from './api.ts'

/** The progress of a prompt. `carried`: the turn of a later prompt has it in its context. */
type Progress = 'absent' | 'waits' | 'turn_started' | 'carried'

/**
 * Returns what the messages of a conversation prove about a prompt. Only an answer that names it as its parent proves a turn. The prompt
 * itself proves nothing, because after a refused approval or an abort it stays in the conversation. Pure. Source: S1-10.
 */
export function progressOf(messages: readonly V1Message[], id: string): Progress {
  const answers = messages.filter(({ role }) => role === 'assistant')
  if (answers.some(({ parentID }) => parentID === id)) return 'turn_started'
  const own = messages.find((message) => message.id === id)
  if (!own) return 'absent'
  const later = messages.filter(({ role, time }) => role === 'user' && time.created > own.time.created)
  const isCarried = answers.some(({ parentID, error }) => !error && later.some((prompt) => prompt.id === parentID))
  return isCarried ? 'carried' : 'waits'
}

/** The agent that answers, and its model: as the last prompt of the conversation had it. A wake never leaves the agent `plan` for another. Pure. */
export function settingsOfLastPrompt(messages: readonly V1Message[]): { agent?: string; model?: object } {
  const [last] = messages.filter(({ role }) => role === 'user').sort((a, b) => b.time.created - a.time.created)
  return { ...(last?.agent ? { agent: last.agent } : {}), ...(last?.model ? { model: last.model } : {}) }
}
