import { Problem } from '../../errors.ts'

/** The key under which a repeated send answers with the first task, as a header or as metadata brings it. */
export function idempotencyKey(key: string | undefined): string | undefined {
  if (key === undefined || (key.length >= 1 && key.length <= 255)) return key
  throw new Problem('invalid-request', { field: 'Idempotency-Key', detail: 'Idempotency-Key: 1 to 255 characters.' })
}
