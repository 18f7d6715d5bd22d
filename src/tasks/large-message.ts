import { jsonInChunks } from '../lib/json-in-chunks.ts'
import { beginSlice, sliceBytes } from '../lib/pauses.ts'
import { weightUpTo } from '../lib/weight.ts'
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
  const bytes = await jsonInChunks(content, by)
  return {
    stamp({ taskId, contextId }) {
      const ids = { taskId, contextId }
      const text = Buffer.concat([bytes.subarray(0, -1), Buffer.from(`,${JSON.stringify(ids).slice(1)}`)])
      return encodedWithin(text, values + Object.keys(ids).length, 'message')
    },
  }
}
