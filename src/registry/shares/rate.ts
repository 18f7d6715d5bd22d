import { type Allowance, furtherOf, RateMeter } from '../../lib/rate-meter.ts'
import { allowancesOf, projectLimits, type RateName, windowMsOf } from '../../share-limits.ts'
import type { Caller } from '../callers/caller.ts'
import { usedUp } from './refusals.ts'

const none: Allowance = { max: 0, windowMs: 1 }

/** One rate, and what each agent, or each project, has used of it. An act checks all of its rates first, and takes then. */
export class Rate {
  readonly #name: RateName
  readonly #meter: RateMeter
  readonly #default: number
  readonly #allowanceOf: (perWindow: number) => Allowance
  /** The allowance of the last caller: most callers have the same. */
  #perWindow = 0
  #allowance: Allowance = none

  constructor(name: RateName) {
    this.#name = name
    this.#default = projectLimits[name].max
    this.#allowanceOf = allowancesOf(name)
    this.#meter = new RateMeter({ windowMs: windowMsOf(name) })
  }

  /**
   * Requires room for `count` acts, all or none; more than the rate has count as all of it. Takes nothing. Returns how much `take` has to
   * take: 0 where there is no limit. Errors: `rate-limited`.
   */
  require(caller: Caller, key: string, now: number, count = 1): number {
    const allowance = this.#allowanceFor(caller)
    if (allowance.max === 0) return 0
    const waitMs = this.#meter.missingMs(key, allowance, now, count)
    if (waitMs > 0) throw usedUp(caller, this.#name, this.#perWindow, waitMs)
    return Math.min(count, allowance.max)
  }

  /** The same for an act that counts as `count` more, of which one was taken before, as `RateMeter.spendFurther`. */
  requireFurther(caller: Caller, key: string, now: number, count: number): number {
    const allowance = this.#allowanceFor(caller)
    if (allowance.max === 0) return 0
    const waitMs = this.#meter.missingFurtherMs(key, allowance, now, count)
    if (waitMs > 0) throw usedUp(caller, this.#name, this.#perWindow, waitMs)
    return furtherOf(count, allowance)
  }

  /** Requires that there is anything left, where acts are counted when they are over. Takes nothing. Errors: `rate-limited`. */
  requireAny(caller: Caller, key: string, now: number): void {
    const allowance = this.#allowanceFor(caller)
    if (allowance.max === 0) return
    const waitMs = this.#meter.waitMs(key, allowance, now)
    if (waitMs > 0) throw usedUp(caller, this.#name, this.#perWindow, waitMs)
  }

  /** Takes what `require` or `requireFurther` has just returned for this key. */
  take(key: string, amount: number): void {
    if (amount > 0) this.#meter.take(key, amount)
  }

  /** Counts what was done already, also where nothing is left. */
  charge(caller: Caller, key: string, now: number, amount: number): void {
    const allowance = this.#allowanceFor(caller)
    if (allowance.max > 0) this.#meter.charge(key, amount, allowance, now)
  }

  #allowanceFor(caller: Caller): Allowance {
    const perWindow = caller.limits?.[this.#name] ?? this.#default
    if (perWindow !== this.#perWindow) {
      this.#perWindow = perWindow
      this.#allowance = perWindow === 0 ? none : this.#allowanceOf(perWindow)
    }
    return this.#allowance
  }
}
