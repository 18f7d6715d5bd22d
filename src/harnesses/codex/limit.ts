import type { UsageLimit } from '../../bridge/adapter.ts'
import { resetIn } from '../reset-time.ts'

const minutesMs = 60_000
/** After so many refusals in a row Codex has given up: the next turn is given time. */
const refusedMs = 5 * minutesMs

/**
 * Returns the limit that Codex names in a line of its output, or in the message of a turn's error. A limit of one model is none: Codex offers
 * another model. Pure.
 */
export function codexLimit(line: string, now: number): UsageLimit | undefined {
  const [said] = /You've hit your usage limit(?! for )[^"\n]*/.exec(line) ?? []
  if (said !== undefined) return { reason: 'usage-limit', until: resetIn(said, now), detail: said.slice(0, 200) }
  const [cap] = /(Your workspace is out of credits|You hit your spend cap)[^"\n]*/.exec(line) ?? []
  if (cap !== undefined) return { reason: 'spend-cap', until: null, detail: cap.slice(0, 200) }
  if (/exceeded retry limit, last status: 429/.test(line)) {
    return { reason: 'rate-limit', until: now + refusedMs, detail: 'exceeded retry limit, last status: 429' }
  }
  return undefined
}
