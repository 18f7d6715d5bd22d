import { messageIdOf } from '../message-id.ts'
import type { V1Api } from './api.ts'
import { progressOf } from './progress.ts'

/** Looks what became of a prompt. Errors: OpenCode cannot be asked. */
export async function findByPort(
  api: V1Api,
  conversationId: string,
  wakeId: string,
  signal: AbortSignal,
): Promise<'turn_started' | 'waits' | 'absent' | 'unknown'> {
  const id = messageIdOf(wakeId)
  const session = await api.session(conversationId, signal)
  if (session === undefined) return 'unknown'
  const isThere = (await api.message(conversationId, id, signal)) !== undefined
  const progress = progressOf(await api.messages(conversationId, signal), id)
  if (progress === 'turn_started' || progress === 'waits') return progress
  // Of a prompt that a later one has taken along, or that is older than what was read, no turn of its own is proven.
  return isThere ? 'unknown' : 'absent'
}
