import { Problem } from '../errors.ts'
import { inputLimits, taskLimits } from '../limits.ts'
import type { Task } from './task.ts'

/** A message or a piece of an artifact as the store keeps it. */
export interface Written {
  /** JSON */
  readonly text: string
  /** Its bytes in UTF-8, and 32 more for each value in it: many small values take longer to tell than one large text. */
  readonly size: number
}

/** What a message or a piece is, written. Errors: `payload-too-large`. */
export function write(value: object, field: string): Written {
  const text = JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  const { max } = inputLimits.messageBytes
  if (bytes <= max) return { text, size: bytes + taskLimits.valueBytes.max * countValues(value) }
  throw new Problem('payload-too-large', {
    field,
    detail: `${field}: is ${bytes} bytes as JSON, and at most ${max}. Send what is large as a URL.`,
    extra: { limit: 'messageBytes', max },
  })
}

/** Refuses one more message where the task holds all that a task may. Errors: `payload-too-large`. */
export function requireRoomForMessage(task: Task, written: Written, field = 'message'): void {
  const { messages } = taskLimits
  if (task.messageCount >= messages.max) throw full(task, field, `${messages.max} messages`, 'messages', messages.max)
  requireBytes(task, written, field)
}

/** The same for one more piece of an artifact. */
export function requireRoomForPiece(task: Task, written: Written): void {
  const { pieces } = taskLimits
  if (task.chunkCount >= pieces.max)
    throw full(task, 'artifact', `${pieces.max} pieces of artifacts`, 'pieces', pieces.max)
  requireBytes(task, written, 'artifact')
}

function requireBytes(task: Task, { size }: Written, field: string): void {
  const { max } = taskLimits.bytes
  if (task.size + size > max) throw full(task, field, `${max} bytes`, 'bytes', max)
}

/** Objects, lists and what is in them. Without recursion. */
function countValues(value: object): number {
  let count = 0
  const open: object[] = [value]
  for (let one = open.pop(); one; one = open.pop()) {
    for (const key in one) {
      count++
      const inner = (one as Record<string, unknown>)[key]
      if (typeof inner === 'object' && inner !== null) open.push(inner)
    }
  }
  return count
}

function full({ id }: Task, field: string, what: string, limit: string, max: number): Problem {
  return new Problem('payload-too-large', {
    field,
    detail: `${field}: task ${id} holds at most ${what}. Go on in a new task that names this one in referenceTaskIds; this one can still be moved without a message.`,
    extra: { limit, max, taskId: id },
  })
}
