import { Problem } from '../errors.ts'
import { taskLimits } from '../limits.ts'
import type { Encoded, EncodedMessage } from './encoded.ts'
import type { Task } from './task.ts'

/** Refuses a message that a task has no room for. Errors: `payload-too-large`. */
export function requireRoomForMessage(task: Task, message: EncodedMessage): void {
  const { max } = taskLimits.messages
  if (task.messageCount >= max) throw full(task, 'message', `${max} messages`, { limit: 'messages', max })
  requireBytes(task, message, 'message')
}

/** Refuses an artifact chunk that a task has no room for. Errors: `payload-too-large`. */
export function requireRoomForChunk(task: Task, chunk: Encoded): void {
  const { max } = taskLimits.pieces
  if (task.chunkCount >= max) throw full(task, 'artifact', `${max} pieces of artifacts`, { limit: 'pieces', max })
  requireBytes(task, chunk, 'artifact')
}

function requireBytes(task: Task, { size }: Pick<Encoded, 'size'>, field: string): void {
  const { max } = taskLimits.bytes
  if (task.size + size > max) throw full(task, field, `${max} bytes`, { limit: 'bytes', max })
}

function full({ id }: Task, field: string, what: string, reached: { limit: string; max: number }): Problem {
  return new Problem('payload-too-large', {
    field,
    detail: `${field}: task ${id} can have at most ${what}. Continue in a new task that names this one in referenceTaskIds; this one can still be moved without a message.`,
    extra: { ...reached, taskId: id },
  })
}
