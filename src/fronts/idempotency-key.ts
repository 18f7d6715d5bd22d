import { Problem } from '../errors.ts'
import { isOneLine, lineFlaw } from '../lib/words.ts'
import { sizeLimits } from '../limits.ts'

/** Returns the idempotency key of a header or of metadata: a repeated send is answered with the first one. Errors: `invalid-request`. */
export function idempotencyKey(key: string | undefined): string | undefined {
  const { max } = sizeLimits.id
  if (key === undefined) return key
  const fits = key.length >= 1 && key.length <= max
  if (fits && isOneLine(key)) return key
  throw new Problem('invalid-request', {
    field: 'Idempotency-Key',
    detail: `Idempotency-Key: ${fits ? lineFlaw(key) : `send 1 to ${max} characters.`}`,
  })
}
