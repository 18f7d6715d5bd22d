import type { FindResult } from '../../../../bridge/adapter.ts'
import { messageIdOf } from '../message-id.ts'
import type { V1Api } from './api.ts'
import { progressOf } from './progress.ts'

/** Finds the outcome of a prompt. Errors: OpenCode does not answer. */
export async function findByPort(
  api: V1Api,
  conversationId: string,
  wakeId: string,
  signal: AbortSignal,
): Promise<FindResult> {
  const id = messageIdOf(wakeId)
  const session = await api.session(conversationId, signal)
  if (session === undefined) return 'unknown'
  const isThere = (await api.message(conversationId, id, signal)) !== undefined
  const progress = progressOf(await api.messages(conversationId, signal), id)
  if (progress === 'turn_started' || progress === 'waits') return progress
  if (progress === 'carried') return 'delivered'
  // The prompt is older than the messages that were read, so its turn cannot be proven.
  return isThere ? 'unknown' : 'absent'
}
