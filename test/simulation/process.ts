import type { Clock } from '../../src/lib/clock.ts'
import type { Realm } from './realm.ts'

let made = 0
/** A clock that is wrong by more is said to be wrong. */
const offsetMaxMs = 5_000

/** A process that runs a gateway, on a machine with a clock. The operating system may stop it for a while, or end it. */
export class Process {
  readonly number: number
  readonly clock: Clock
  /** ms by which its wall clock is ahead. */
  #skew = 0
  isGone = false
  /** Its leases may have ended, or what it knows may be on no record. */
  isHurt = false
  /** It ends at this operation of the store from now. 0: at none. */
  endsIn = 0
  #thawsAt = 0
  /** Until when it has no way to the store of several gateways. */
  #cutUntil = 0
  readonly #realm: Realm

  readonly #end: () => void

  /** @param end ends it */
  constructor(realm: Realm, end: () => void) {
    this.#realm = realm
    this.#end = end
    this.number = ++made
    this.clock = {
      now: () => realm.wall + this.#skew,
      after: (delayMs, work) => {
        const timer = realm.after(delayMs, () => this.run(work))
        return () => realm.cancel(timer)
      },
    }
  }

  /** Counts an operation of the store. */
  tick(): void {
    if (this.endsIn > 0 && --this.endsIn === 0) this.#end()
  }

  get isFrozen(): boolean {
    return this.#thawsAt > this.#realm.now
  }

  get isCut(): boolean {
    return this.#cutUntil > this.#realm.now
  }

  freeze(ms: number): void {
    this.#thawsAt = this.#realm.now + ms
    this.isHurt = true
  }

  cut(ms: number): void {
    this.#cutUntil = this.#realm.now + ms
    this.isHurt = true
  }

  /** A wrong clock ends leases of others too early: better twice than never. */
  setClock(aheadMs: number): void {
    this.#skew = aheadMs
    if (Math.abs(aheadMs) > offsetMaxMs) this.isHurt = true
  }

  heal(): void {
    this.#thawsAt = this.#cutUntil = this.#skew = this.endsIn = 0
  }

  /** Does something now, or when it goes on, or never. */
  run(work: () => void): void {
    if (this.isGone) return
    if (this.isFrozen) this.#realm.after(this.#thawsAt - this.#realm.now, () => this.run(work))
    else work()
  }

  /** Resolves when it runs. */
  running(): Promise<void> {
    return new Promise((resolve) => this.run(resolve))
  }
}
