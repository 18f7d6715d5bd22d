import { Problem } from '../errors.ts'
import { sizeLimits } from '../limits.ts'

/**
 * Lists of sessions and agents repeat the capabilities of every session, and each sign of life of a session reads them, so their size is bounded.
 * A session that has more already keeps them until it ends. Errors: `payload-too-large`.
 */
export function requireCapabilitiesSize(capabilities: readonly string[] | undefined, field: string): void {
  if (capabilities === undefined) return
  const { max } = sizeLimits.settings
  const bytes = Buffer.byteLength(JSON.stringify(capabilities))
  if (bytes <= max) return
  throw new Problem('payload-too-large', {
    field,
    detail: `${field}: the capabilities have ${bytes} bytes as JSON, and at most ${max} are allowed. List fewer or shorter capabilities.`,
    extra: { limit: 'settings', max },
  })
}
