/** How many old keys are checked, and perhaps forgotten, for each new key: bounded, so that no caller pays for all of them. */
const lookMax = 8

/** How much of an allowance is used, as it was at an instant (ms). */
interface Used {
  level: number
  at: number
}

/** `max` in `windowMs` ms. */
export interface Allowance {
  readonly max: number
  readonly windowMs: number
  /** How many allowances may be owed at most; 10 if not given. */
  readonly owed?: number
}

const owedMax = 10

/**
 * Counts what many keys do against a rate, in memory. An allowance may be used all at once, and comes back evenly. Remembers at most
 * `keysMax` keys; those whose allowance is whole again are forgotten first.
 */
export class RateMeter {
  readonly #keysMax: number
  readonly #windowMs: number
  readonly #used = new Map<string, Used>()

  /** @param windowMs the longest window of an allowance */
  constructor({ keysMax = 100_000, windowMs = 3_600_000 } = {}) {
    this.#keysMax = keysMax
    this.#windowMs = windowMs
  }

  /**
   * Takes `count` of `max` in `windowMs` ms, or all of them where `count` is more. Returns 0, or, where too few are left and nothing was
   * taken, how many ms it is until there are enough.
   */
  spend(key: string, max: number, windowMs: number, now: number, count = 1): number {
    const missing = this.missingMs(key, { max, windowMs }, now, count)
    if (missing === 0) this.take(key, Math.min(count, max))
    return missing
  }

  /** Takes what `missingMs` has just found room for: the key is known, and its use is as it is now. */
  take(key: string, amount: number): void {
    this.#used.get(key)!.level += amount
  }

  /**
   * Takes `count` for an act of which one was taken before, or what a whole allowance has beside that one, if it is less. Returns 0, or,
   * where too few are left and nothing was taken, how many ms it is until there are enough for the act with its first one.
   */
  spendFurther(key: string, allowance: Allowance, now: number, count: number): number {
    const missing = this.missingFurtherMs(key, allowance, now, count)
    const further = furtherOf(count, allowance)
    if (missing === 0 && further > 0) this.take(key, further)
    return missing
  }

  /** The same, but takes nothing: what there is to take is `furtherOf`. */
  missingFurtherMs(key: string, allowance: Allowance, now: number, count: number): number {
    const further = furtherOf(count, allowance)
    if (further === 0 || this.missingMs(key, allowance, now, further) === 0) return 0
    return this.missingMs(key, allowance, now, further + 1)
  }

  /** How many ms it is until `count` may be taken, or all of them where `count` is more; 0: they may. Takes nothing. */
  missingMs(key: string, { max, windowMs }: Allowance, now: number, count = 1): number {
    const missing = this.#refreshed(key, { max, windowMs }, now, max).level + Math.min(count, max) - max
    // Sums of fractions are not exact.
    return missing > 1e-6 ? Math.ceil((missing * windowMs) / max - 1e-6) : 0
  }

  /** Takes what was used already. More than is left becomes a debt, up to `owed` allowances, that comes back first. */
  charge(key: string, amount: number, allowance: Allowance, now: number): void {
    const levelMax = levelMaxOf(allowance)
    const used = this.#refreshed(key, allowance, now, levelMax)
    used.level = Math.min(levelMax, used.level + amount)
  }

  /** How many ms it is until there is anything to take; 0: there is. Takes nothing. */
  waitMs(key: string, allowance: Allowance, now: number): number {
    const { max, windowMs } = allowance
    const { level } = this.#refreshed(key, allowance, now, levelMaxOf(allowance))
    return level < max ? 0 : Math.max(1, Math.ceil(((level - max) * windowMs) / max))
  }

  get size(): number {
    return this.#used.size
  }

  #refreshed(key: string, { max, windowMs }: Allowance, now: number, levelMax: number): Used {
    const used = this.#usedBy(key, now)
    // A clock that was set back gives nothing back and takes nothing away.
    const back = (Math.max(0, now - used.at) * max) / windowMs
    used.level = Math.min(Math.max(0, used.level - back), levelMax)
    used.at = now
    return used
  }

  #usedBy(key: string, now: number): Used {
    const known = this.#used.get(key)
    if (known) return known
    this.#makeRoom(now)
    const used: Used = { level: 0, at: now }
    this.#used.set(key, used)
    return used
  }

  /** Forgets keys that were not in use for the longest window, and the oldest where there is no room. */
  #makeRoom(now: number): void {
    let looked = 0
    for (const [key, used] of this.#used) {
      if (++looked > lookMax) return
      this.#used.delete(key)
      const isNeeded = now - used.at < this.#windowMs
      // An entry that is still needed moves to the end, after those that were not checked yet.
      if (isNeeded && this.#used.size < this.#keysMax - 1) this.#used.set(key, used)
    }
  }
}

/** How much an act takes that counts as `count` more, of which one was taken before: no more than a whole allowance in all. */
export const furtherOf = (count: number, { max }: Allowance): number => Math.max(0, Math.min(count, max - 1))

const levelMaxOf = ({ max, owed = owedMax }: Allowance): number => max * owed
