import { parkedUntil, type ShortPark } from '../../words/parking.ts'
import type { UsageLimit } from '../adapter.ts'
import type { GuardVerdict } from '../guards/guard.ts'
import type { Parked } from './recovery-calls.ts'

/** A harness that tries again and again reports each time another instant. */
const sameMs = 60_000

/** The limit of the harness of an agent: nothing is handed over while it lasts. Instants in ms since the epoch. Source: D50. */
export class Parking {
  readonly #now: () => number
  readonly #note: (text: string) => void
  #limit: (Pick<UsageLimit, 'until' | 'detail'> & { readonly reason: string }) | undefined
  #short: ShortPark | undefined
  #unsent: UsageLimit | undefined
  #isOfGateway = true

  constructor(now: () => number, note: (text: string) => void) {
    this.#now = now
    this.#note = note
  }

  /** The limit that has not been reported to the gateway yet. */
  get unsent(): UsageLimit | undefined {
    if (this.#unsent && isOver(this.#unsent, this.#now())) this.#unsent = undefined
    return this.#unsent
  }

  /** Why no turn may begin now; undefined: it may. */
  get guard(): GuardVerdict | undefined {
    if (this.#limit === undefined || isOver(this.#limit, this.#now())) return undefined
    const { until, reason, detail } = this.#limit
    const what = reason.replaceAll('-', ' ')
    const end = until === null ? ' until a person ends it: rouse unpark' : ''
    const why = `its harness is at its limit (${what}${detail ? `: ${detail}` : ''})${end}`
    return { reason: why, mayAt: until ?? Number.POSITIVE_INFINITY, because: 'usage_limit' }
  }

  /** Takes the report of an adapter. Returns whether it is new. */
  limited(limit: UsageLimit): boolean {
    const now = this.#now()
    const before = this.guard && this.#limit
    const { until, short } = parkedUntil(limit.until, now, this.#short)
    // A run that began before the park proves nothing new.
    if (before && short) return false
    this.#short = short
    const isSame = before?.reason === limit.reason && Math.abs((before.until ?? 0) - (until ?? 0)) < sameMs
    if (isSame) return false
    this.#limit = { ...limit, until }
    this.#unsent = { ...limit, until }
    this.#note(`parked: ${this.guard?.reason}${until === null ? '' : `, until ${new Date(until).toISOString()}`}`)
    return true
  }

  /** The gateway has acknowledged it. `isKnown`: it keeps it; otherwise it holds here alone. */
  sent(limit: UsageLimit, isKnown: boolean): void {
    if (this.#unsent !== limit) return
    this.#unsent = undefined
    this.#isOfGateway = isKnown
  }

  /** Adopts the state of the gateway, which an operator may have edited. Local changes that were not reported yet win. */
  told(parked: Parked | null): void {
    if (this.unsent !== undefined || (!this.#isOfGateway && this.guard && parked === null)) return
    this.#isOfGateway = true
    if (parked === null && this.guard) {
      this.#short = undefined
      this.#note('not parked any more')
    }
    this.#limit = parked ?? undefined
  }
}

const isOver = ({ until }: Pick<UsageLimit, 'until'>, now: number): boolean => until !== null && until <= now
