import { jsonInChunks } from '../lib/json-in-chunks.ts'
import { beginSlice, sliceBytes } from '../lib/pauses.ts'
import { weightUpTo } from '../lib/weight.ts'
import { inputLimits } from '../limits.ts'
import type { Database } from '../storage/database.ts'
import { type EncodedMessage, encodedWithin, requireShallow } from './encoded.ts'
import { discardPieces, leftToPrune, storePieces } from './message-pieces.ts'
import type { A2aMessage } from './task.ts'

/** A large message as it is stored, but for the ids of its task and context: those are known only in its transaction. */
export interface LargeMessage {
  /** Puts the ids in. Errors: `payload-too-large`, `invalid-request`. */
  stamp(stamped: A2aMessage): EncodedMessage
  /** Call it where the message is not stored, whatever the reason: deletes what was stored before its transaction. Never rejects. */
  discard(): Promise<void>
}

/** Whether the work on a value takes more than one slice. */
export function isLarge(value: unknown): boolean {
  return weightUpTo(value, sliceBytes) > sliceBytes
}

/**
 * Encodes a large message over several iterations of the event loop, and stores most of a very large one in pieces. What is wrong with it
 * is thrown when it is stamped, after what the transaction refuses. Errors: `storage-unavailable`.
 * @param by the id of its sender
 */
export async function prepareLarge(
  db: Database,
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
      async discard() {},
    }
  }
  const json = await jsonInChunks(content, by, idsMax)
  const pieces = json.length <= inputLimits.messageBytes.max ? await storePieces(db, json, by) : undefined
  return {
    stamp({ taskId, contextId }) {
      const ids = { taskId, contextId }
      const text = withMore(json, `,${JSON.stringify(ids).slice(1)}`)
      const whole = encodedWithin(text, values + Object.keys(ids).length, 'message')
      return pieces ? { ...whole, text: text.subarray(pieces.bytes), pieces } : whole
    },
    async discard() {
      if (pieces) await discardPieces(db, pieces.id, by).catch(leftToPrune)
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
