import { z } from 'zod'
import type { UsageLimit } from '../../../bridge/adapter.ts'
import { resetIn } from '../../reset-time.ts'
import { codexLimit } from '../limit.ts'

const usageWindow = z.object({ usedPercent: z.number(), resetsAt: z.number().nullish() })

/** The use of an account, as far as a message reports it. `resetsAt`: seconds since the epoch. */
const snapshot = z.object({
  limitId: z.string().nullish(),
  primary: usageWindow.nullish(),
  secondary: usageWindow.nullish(),
  rateLimitReachedType: z.string().nullish(),
})
type Snapshot = z.infer<typeof snapshot>

/** The error of a turn. */
const turnError = z.object({ message: z.string().default(''), codexErrorInfo: z.unknown().optional() })

const ofPerson = /^workspace_/

/**
 * The limits of its account, as an app-server reports them: sparse messages, of which a later one clears nothing that an earlier one reported.
 * Source: D50.
 */
export class AccountLimits {
  #known: Snapshot = {}

  /** Takes a snapshot of `account/rateLimits/updated`, or of the answer of `account/rateLimits/read`. That of one model counts for nothing. */
  note(said: unknown): void {
    const { data } = snapshot.safeParse(said)
    if (data === undefined || (data.limitId ?? 'codex') !== 'codex') return
    const told = Object.entries(data).filter(([, value]) => value !== undefined && value !== null)
    this.#known = { ...this.#known, ...Object.fromEntries(told) }
  }

  /** Returns the limit that has ended a turn; undefined: its error is another one. `now`: ms since the epoch. */
  limitOf(error: unknown, now: number): UsageLimit | undefined {
    const { data } = turnError.safeParse(error)
    if (data === undefined) return undefined
    const named = codexLimit(data.message, now)
    if (data.codexErrorInfo !== 'usageLimitExceeded' && data.codexErrorInfo !== 'UsageLimitExceeded') return named
    // Of one model: Codex offers another one.
    if (/usage limit for /.test(data.message)) return undefined
    const detail = data.message.split('\n')[0]!.slice(0, 200)
    const said = detail === '' ? {} : { detail }
    const { rateLimitReachedType: kind, primary, secondary } = this.#known
    if (named?.reason === 'spend-cap' || ofPerson.test(kind ?? '')) return { reason: 'spend-cap', until: null, ...said }
    const full = [primary, secondary].flatMap((one) =>
      one && one.usedPercent >= 100 && one.resetsAt ? [one.resetsAt * 1_000] : [],
    )
    const until = full.length > 0 ? Math.max(...full) : resetIn(data.message, now)
    return { reason: 'usage-limit', until, ...said }
  }
}
