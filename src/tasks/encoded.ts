import { Problem } from '../errors.ts'
import { inputLimits, taskLimits } from '../limits.ts'
import type { MessagePieces } from './message-pieces.ts'

/** A message or an artifact chunk as the store keeps it. */
export interface Encoded {
  /** JSON */
  readonly text: string
  /** Bytes of `text` in UTF-8. */
  readonly bytes: number
  /** `bytes`, plus 32 for each value in it: many small values take longer to read than one large text. */
  readonly size: number
}

/** The same for a message, of which a large one is bytes in UTF-8: they are stored without another conversion. */
export interface EncodedMessage extends Omit<Encoded, 'text'> {
  readonly text: string | Buffer
  /** Where the beginning of its text is, if it is not in `text`. `bytes` and `size` count all of it. */
  readonly pieces?: MessagePieces | undefined
}

/** Errors: `payload-too-large`, `invalid-request`. */
export function encode(value: object, field: string): Encoded {
  const values = requireShallow(value, field)
  return encodedWithin(JSON.stringify(value), values, field)
}

/** @param values the fields and list entries in the text. Errors: `payload-too-large`. */
export function encodedWithin<Text extends string | Buffer>(
  text: Text,
  values: number,
  field: string,
): Omit<Encoded, 'text'> & { readonly text: Text } {
  const bytes = Buffer.byteLength(text)
  const { max } = inputLimits.messageBytes
  if (bytes <= max) return { text, bytes, size: bytes + taskLimits.valueBytes.max * values }
  throw new Problem('payload-too-large', {
    field,
    detail: `${field}: has ${bytes} bytes as JSON, and at most ${max} are allowed. Send large data as a URL.`,
    extra: { limit: 'messageBytes', max },
  })
}

/**
 * Refuses a value with more levels than the readers of protocol buffers accept, of which some allow 100 messages in one another; an
 * object in `data` takes three. Returns the number of its fields and list entries, at every depth. Without recursion. Errors: `invalid-request`.
 */
export function requireShallow(value: object, field: string): number {
  const { max } = inputLimits.contentDepth
  let level: object[] = [value]
  let values = 0
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > max) {
      throw new Problem('invalid-request', {
        field,
        detail: `${field}: has more than ${max} levels of nested arrays and objects. Send a flatter value, or send it as text.`,
        extra: { limit: 'contentDepth', max },
      })
    }
    const found: object[] = []
    for (const one of level) {
      for (const key in one) {
        values++
        const inner = (one as Record<string, unknown>)[key]
        if (typeof inner === 'object' && inner !== null) found.push(inner)
      }
    }
    level = found
  }
  return values
}
