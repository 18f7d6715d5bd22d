import { jsonInChunks } from '../lib/json-in-chunks.ts'
import { beginSlice, sliceBytes } from '../lib/pauses.ts'
import { weightUpTo } from '../lib/weight.ts'
import { inputLimits } from '../limits.ts'
import { type EncodedMessage, encodedWithin, requireShallow } from './encoded.ts'
import type { A2aMessage } from './task.ts'

/** A large message as it is stored, but for the ids of its task and context: those are known only in its transaction. */
export interface LargeMessage {
  /** Puts the ids in. Errors: `payload-too-large`, `invalid-request`. */
  stamp(stamped: A2aMessage): EncodedMessage
}

/** Whether the work on a value takes more than one slice. */
export function isLarge(value: unknown): boolean {
  return weightUpTo(value, sliceBytes) > sliceBytes
}

/**
 * Encodes a large message over several iterations of the event loop. What is wrong with it is thrown when it is stamped, after what the
 * transaction refuses.
 * @param by the id of its sender
 */
export async function encodeLarge(
  { taskId: _, contextId: __, ...content }: A2aMessage,
  by: string,
): Promise<LargeMessage> {
  await beginSlice(by)
  let values = 0
  try {
    values = requireShallow(content, 'message')
  } catch (problem) {
    return {
      stamp() {
        throw problem
      },
    }
  }
  const json = await jsonInChunks(content, by, idsMax)
  return {
    stamp({ taskId, contextId }) {
      const ids = { taskId, contextId }
      const text = withMore(json, `,${JSON.stringify(ids).slice(1)}`)
      return encodedWithin(text, values + Object.keys(ids).length, 'message')
    },
  }
}

/** The most bytes of the ids of a task and a context, as JSON. */
const idsMax = 2 * 6 * inputLimits.messageId.max + 64

/**
 * Puts more fields into an object that was encoded with room for them. The object is not copied, so only the last text that was made of it
 * is valid: a transaction that is tried again stamps again.
 */
function withMore(json: Buffer, more: string): Buffer {
  const before = json.length - 1
  const text = Buffer.from(json.buffer, json.byteOffset, before + Buffer.byteLength(more))
  text.write(more, before)
  return text
}
