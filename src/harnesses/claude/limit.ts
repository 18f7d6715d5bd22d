import type { UsageLimit } from '../../bridge/adapter.ts'
import { isJsonObject } from '../../lib/json.ts'
import { resetIn } from '../reset-time.ts'
import { zaiLimit } from '../zai-limit.ts'

/** Claude Code has tried again by itself before it says so. */
const refusedMs = 5 * 60_000

/**
 * Returns the limit that Claude Code names in a line: a `rate_limit_event` of `--output-format stream-json`, a sentence, or the error of the hook
 * `StopFailure` with its last sentence. Pure.
 */
export function claudeLimit(line: string, now: number): UsageLimit | undefined {
  if (line.includes('"rate_limit_event"')) return ofEvent(line, now)
  const [said, at] =
    /Claude AI usage limit reached(?:\|(\d{10}))?|(?:You've hit your |\b)(?:[\w-]+ )?limit (?:reached )?[·∙|-] ?resets[^"\n]*|You've hit your (?:[\w-]+ )?limit[^"\n]*/.exec(
      line,
    ) ?? []
  if (said !== undefined) {
    const until = at === undefined ? resetIn(said, now) : Number(at) * 1_000
    return { reason: 'usage-limit', until, detail: said.slice(0, 200) }
  }
  const served = zaiLimit(line, now)
  if (served !== undefined) return served
  const [cap] = /Credit balance is too low|You've run out of usage credits|^billing_error\b/.exec(line) ?? []
  if (cap !== undefined) return { reason: 'spend-cap', until: null, detail: cap }
  const [refused] = /Request rejected \(429\)|Server is temporarily limiting requests|^rate_limit\b/.exec(line) ?? []
  return refused === undefined ? undefined : { reason: 'rate-limit', until: now + refusedMs, detail: refused }
}

/** Each session has events that say `allowed`. With the paid overage it goes on. */
function ofEvent(line: string, now: number): UsageLimit | undefined {
  const info = infoIn(line)
  if (info?.status !== 'rejected' || info.isUsingOverage === true) return undefined
  const { resetsAt, rateLimitType } = info
  const until = typeof resetsAt === 'number' && Number.isFinite(resetsAt) ? resetsAt * 1_000 : resetIn('', now)
  const kind = typeof rateLimitType === 'string' && /^\w{1,40}$/.test(rateLimitType) ? rateLimitType : 'limit'
  return { reason: 'usage-limit', until, detail: `rate_limit_event: ${kind}` }
}

function infoIn(line: string) {
  try {
    const event: unknown = JSON.parse(line)
    return isJsonObject(event) && event.type === 'rate_limit_event' && isJsonObject(event.rate_limit_info)
      ? event.rate_limit_info
      : undefined
  } catch {
    return undefined
  }
}
