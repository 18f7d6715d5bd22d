import { Problem } from '../errors.ts'
import { sizeLimits } from '../limits.ts'

/** A message or an artifact chunk as the store keeps it. */
export interface EncodedPart {
  /** JSON */
  readonly text: string
  /** Bytes of `text` in UTF-8. */
  readonly bytes: number
  /** `bytes`, plus 32 for each value in it: many small values take longer to read than one large text. */
  readonly size: number
}

/** The bytes that a value adds to the size, beside its text. */
const valueBytes = 32
const depthMax = sizeLimits.contentDepth.max

/** Encodes a message or an artifact chunk. Errors: `invalid-request`. */
export function encode(value: object, field: string): EncodedPart {
  const values = requireShallow(value, field)
  const text = JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  return { text, bytes, size: bytes + valueBytes * values }
}

/**
 * Refuses a value with more levels than the readers of protocol buffers accept. Returns the number of its fields and list entries, at
 * every depth. Without recursion. Errors: `invalid-request`.
 */
export function requireShallow(value: object, field: string): number {
  let level: object[] = [value]
  let values = 0
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > depthMax) {
      throw new Problem('invalid-request', {
        field,
        detail: `${field}: has more than ${depthMax} levels of nested arrays and objects. Send a flatter value, or send it as text.`,
        extra: { limit: 'contentDepth', max: depthMax },
      })
    }
    const found: object[] = []
    for (const one of level) {
      // A `for in` over both lists and objects is no way to do this: on Node 24 V8 compiles it again many times a second.
      const members: unknown[] = Array.isArray(one) ? one : Object.values(one)
      values += members.length
      for (const inner of members) if (typeof inner === 'object' && inner !== null) found.push(inner)
    }
    level = found
  }
  return values
}
