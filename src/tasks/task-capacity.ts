import { Problem } from '../errors.ts'
import { sizeLimits } from '../limits.ts'
import type { EncodedPart } from './encoded.ts'
import type { Task } from './task.ts'

/** Refuses a message that a task has no room for. Errors: `payload-too-large`. */
export function requireRoomForMessage(task: Task, message: EncodedPart): void {
  const { max } = sizeLimits.taskItems
  if (task.messageCount >= max) throw full(task, 'message', `${max} messages`, { limit: 'taskItems', max })
  requireBytes(task, message, 'message')
}

/** Refuses an artifact chunk that a task has no room for. Errors: `payload-too-large`. */
export function requireRoomForChunk(task: Task, chunk: EncodedPart): void {
  const { max } = sizeLimits.taskItems
  if (task.chunkCount >= max) throw full(task, 'artifact', `${max} artifact chunks`, { limit: 'taskItems', max })
  requireBytes(task, chunk, 'artifact')
}

function requireBytes(task: Task, { size }: Pick<EncodedPart, 'size'>, field: string): void {
  const { max } = sizeLimits.taskBytes
  if (task.size + size > max) throw full(task, field, `${max} bytes`, { limit: 'taskBytes', max })
}

function full({ id }: Task, field: string, what: string, reached: { limit: string; max: number }): Problem {
  return new Problem('payload-too-large', {
    field,
    detail: `${field}: task ${id} can have at most ${what}.`,
    remedy: 'continue-elsewhere',
    extra: { ...reached, taskId: id },
  })
}
