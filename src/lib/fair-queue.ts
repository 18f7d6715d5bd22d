import type { Clock } from './clock.ts'

interface FairBounds {
  /** A caller with at least this many requests at a time is a heavy one. */
  readonly few: number
  /** How many requests of a heavy caller are processed at a time while light callers are active. */
  readonly atOnce: number
  /** How long a caller counts as heavy after it was, in ms. */
  readonly rememberMs: number
  /** How long light callers count as active after their last request, in ms. */
  readonly pauseMs: number
  /** The longest wait of a heavy caller that has no request in process, in ms. */
  readonly patienceMs: number
}

/** A caller: its requests that are processed, and those that wait. */
export interface Member {
  readonly key: string
  inside: number
  /** Until when it counts as heavy, in ms since the epoch. */
  greedyUntil: number
  isGreedy: boolean
  readonly waiting: { readonly since: number; readonly come: () => void }[]
}

/** How many callers without a request in process are remembered. */
const idleMax = 4_096

/**
 * Shares the one thread between callers. A request of a light caller is processed at once. A request of a heavy caller waits while
 * requests of light callers are processed, and only a few of its requests are processed at a time. After `patienceMs` one of them is
 * processed in any case, so that no caller starves. Without light callers nothing waits.
 */
export class FairQueue {
  readonly #clock: Clock
  readonly #bounds: FairBounds
  readonly #members = new Map<string, Member>()
  /** Callers with waiting requests, in the order in which they are served. */
  readonly #queue = new Set<Member>()
  #modestInside = 0
  /** When the last request of a light caller ended. */
  #modestAt = Number.NEGATIVE_INFINITY
  #cancelLook: (() => void) | undefined
  #soon: NodeJS.Immediate | undefined
  #isPaused = false

  constructor(clock: Clock, bounds: FairBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** From now on heavy callers wait, whatever the other callers do, until `resume`. They wait no longer than `patienceMs`. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    if (this.#queue.size > 0) this.#admitSoon()
  }

  /**
   * Begins a request. Returns its caller, or a promise of it where the request has to wait. End each request with `leave`.
   * @param inCompany whether other callers are active; a caller that is alone never waits
   */
  enter(key: string, inCompany: boolean): Member | Promise<Member> {
    const member = this.#memberOf(key)
    const now = this.#clock.now()
    this.#judge(member, now)
    if (!inCompany || !member.isGreedy || (member.waiting.length === 0 && this.#hasSlot(member, now))) {
      this.#take(member)
      return member
    }
    this.#queue.add(member)
    this.#lookLater()
    return new Promise((resolve) => member.waiting.push({ since: now, come: () => resolve(member) }))
  }

  /** Begins a request that never waits. Heavy callers wait for it. */
  enterFirst(key: string): Member {
    const member = this.#memberOf(key)
    this.#take(member)
    return member
  }

  /** Ends a request. */
  leave(member: Member): void {
    member.inside--
    if (!member.isGreedy) {
      this.#modestInside--
      this.#modestAt = this.#clock.now()
    }
    if (this.#queue.size > 0) this.#admitSoon()
  }

  /** How many callers are remembered. */
  get remembered(): number {
    return this.#members.size
  }

  #memberOf(key: string): Member {
    const known = this.#members.get(key)
    if (known) return known
    if (this.#members.size >= idleMax) this.#forgetIdle()
    const member: Member = { key, inside: 0, greedyUntil: 0, isGreedy: false, waiting: [] }
    this.#members.set(key, member)
    return member
  }

  /** Decides whether a caller is heavy. Its requests in process are counted accordingly. */
  #judge(member: Member, now: number): void {
    if (member.inside >= this.#bounds.few || member.waiting.length > 0) {
      member.greedyUntil = now + this.#bounds.rememberMs
    }
    const isGreedy = now < member.greedyUntil
    if (isGreedy === member.isGreedy) return
    member.isGreedy = isGreedy
    this.#modestInside += isGreedy ? -member.inside : member.inside
  }

  #take(member: Member): void {
    member.inside++
    if (!member.isGreedy) this.#modestInside++
  }

  #hasSlot(member: Member, now: number): boolean {
    if (this.#modestInside > 0 || this.#isPaused) return false
    return member.inside < this.#bounds.atOnce || now - this.#modestAt >= this.#bounds.pauseMs
  }

  /** In the next iteration of the event loop: requests that arrived meanwhile are read first. */
  #admitSoon(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined
      this.#admit()
    })
  }

  /** Lets one waiting request of each caller begin that may, or has waited for `patienceMs`. */
  #admit(): void {
    const now = this.#clock.now()
    for (const member of [...this.#queue]) {
      const isLate = member.inside === 0 && now - member.waiting[0]!.since >= this.#bounds.patienceMs
      if (!isLate && !this.#hasSlot(member, now)) continue
      this.#queue.delete(member)
      const { come } = member.waiting.shift()!
      this.#take(member)
      // Its next request comes after those of the other callers.
      if (member.waiting.length > 0) this.#queue.add(member)
      come()
    }
  }

  #lookLater(): void {
    this.#cancelLook ??= this.#clock.after(this.#bounds.patienceMs, () => {
      this.#cancelLook = undefined
      this.#admit()
      if (this.#queue.size > 0) this.#lookLater()
    })
  }

  #forgetIdle(): void {
    const now = this.#clock.now()
    for (const [key, { inside, waiting, greedyUntil }] of this.#members) {
      if (inside === 0 && waiting.length === 0 && greedyUntil <= now) this.#members.delete(key)
    }
  }
}
