import { Problem } from '../errors.ts'
import { sizeLimits } from '../limits.ts'
import type { Filters } from '../registry/subscriptions/subscription.ts'

/** Every event of an agent is compared with the filters of all of its subscriptions, so their size is bounded. Errors: `payload-too-large`. */
export function requireFilterSize(filters: Filters): void {
  const { max } = sizeLimits.settings
  const bytes = Buffer.byteLength(JSON.stringify(filters))
  if (bytes <= max) return
  throw new Problem('payload-too-large', {
    field: 'filters',
    detail: `filters: the filters have ${bytes} bytes as JSON, and at most ${max} are allowed. List fewer entries, or divide them among several subscriptions.`,
    extra: { limit: 'settings', max },
  })
}
