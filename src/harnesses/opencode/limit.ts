import type { UsageLimit } from '../../bridge/adapter.ts'
import type { JsonObject } from '../../lib/json.ts'
import { resetIn } from '../reset-time.ts'
import { zaiLimit } from '../zai-limit.ts'

/** OpenCode waits shorter times by itself, and its conversation is busy meanwhile. */
const shortMs = 60_000
const refusedMs = 5 * 60_000
const requests = /too many requests|rate.?limit/i

/**
 * Returns the limit that OpenCode waits for: the `status` of a `session.status`, `{type: "retry", attempt, message, next}`, where `next` is when it
 * tries again, ms since the epoch. Pure.
 */
export function opencodeRetryLimit({ type, message, next }: JsonObject, now: number): UsageLimit | undefined {
  if (type !== 'retry' || typeof next !== 'number' || !(next - now >= shortMs)) return undefined
  const said = typeof message === 'string' ? message.split('\n')[0]!.slice(0, 200) : ''
  const reason = requests.test(said) ? 'rate-limit' : 'usage-limit'
  return { reason, until: next, ...(said === '' ? {} : { detail: said }) }
}

/** Returns the limit that OpenCode names in a line of its output. Pure. */
export function opencodeLimit(line: string, now: number): UsageLimit | undefined {
  const [said] = /Free usage exceeded[^"\n]*/.exec(line) ?? []
  if (said !== undefined) return { reason: 'usage-limit', until: resetIn(said, now), detail: said.slice(0, 200) }
  const served = zaiLimit(line, now)
  if (served !== undefined) return served
  const [refused] = /\b(Too Many Requests|Rate Limited)\b/.exec(line) ?? []
  return refused === undefined ? undefined : { reason: 'rate-limit', until: now + refusedMs, detail: refused }
}
