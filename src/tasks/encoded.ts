import { Problem } from '../errors.ts'
import { inputLimits, taskLimits } from '../limits.ts'

/** A message or an artifact chunk as the store keeps it. */
export interface Encoded {
  /** JSON */
  readonly text: string
  /** Bytes of `text` in UTF-8, plus 32 for each value in it: many small values take longer to read than one large text. */
  readonly size: number
}

/** Errors: `payload-too-large`. */
export function encode(value: object, field: string): Encoded {
  const text = JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  const { max } = inputLimits.messageBytes
  if (bytes <= max) return { text, size: bytes + taskLimits.valueBytes.max * countValues(value) }
  throw new Problem('payload-too-large', {
    field,
    detail: `${field}: has ${bytes} bytes as JSON, and at most ${max} are allowed. Send large data as a URL.`,
    extra: { limit: 'messageBytes', max },
  })
}

/** Counts the fields and list entries of a value, at every depth. Without recursion. */
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
