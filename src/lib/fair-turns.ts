import type { Clock } from './clock.ts'

export interface TurnBounds {
  /** How many requests at a time a caller may have before it asks for much. */
  readonly few: number
  /** How many of its requests are inside at a time, between those of others. */
  readonly turns: number
  /** How long one that asks for much is remembered, in ms. */
  readonly rememberMs: number
  /** How long after others have left they still count as being there, in ms. */
  readonly pauseMs: number
  /** How long somebody waits for others at most before one of its requests goes on, in ms. */
  readonly patienceMs: number
}

/** A caller with its requests, those inside and those that wait. */
export interface Member {
  readonly key: string
  inside: number
  /** Until when it counts as one that asks for much. */
  greedyUntil: number
  isGreedy: boolean
  readonly waiting: { readonly since: number; readonly come: () => void }[]
}

/** Members that are remembered although none of their requests is inside. */
const idleMax = 4_096

/**
 * Turns on the one thread. Whoever asks for little goes in at once. Whoever asks for much goes in while none of those is inside, a
 * few requests at a time while they are about; one at the latest after `patienceMs`, so that nobody starves. Where nobody asks for
 * little, all go in at once: there is nobody to wait for.
 */
export class FairTurns {
  readonly #clock: Clock
  readonly #bounds: TurnBounds
  readonly #members = new Map<string, Member>()
  /** Members of whom somebody waits, in the order of their turns. */
  readonly #turns = new Set<Member>()
  #modestInside = 0
  /** When one that asks for little was last inside. */
  #modestAt = Number.NEGATIVE_INFINITY
  #cancelLook: (() => void) | undefined
  #soon: NodeJS.Immediate | undefined

  constructor(clock: Clock, bounds: TurnBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /**
   * Takes a turn: a member, or a promise of it where others go first. Each turn ends with `leave`.
   * @param inCompany whether others are about at all; a lone caller never waits
   */
  enter(key: string, inCompany: boolean): Member | Promise<Member> {
    const member = this.#memberOf(key)
    const now = this.#clock.now()
    this.#judge(member, now)
    if (!inCompany || !member.isGreedy || (member.waiting.length === 0 && this.#hasTurn(member, now))) {
      this.#take(member)
      return member
    }
    this.#turns.add(member)
    this.#lookLater()
    return new Promise((resolve) => member.waiting.push({ since: now, come: () => resolve(member) }))
  }

  /** Takes a turn for one that never waits, and for whom the others always do. */
  enterFirst(key: string): Member {
    const member = this.#memberOf(key)
    this.#take(member)
    return member
  }

  /** Ends a turn. */
  leave(member: Member): void {
    member.inside--
    if (!member.isGreedy) {
      this.#modestInside--
      this.#modestAt = this.#clock.now()
      if (member.inside === 0) this.#members.delete(member.key)
    }
    if (this.#turns.size > 0) this.#admitSoon()
  }

  /** How many members are remembered. */
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

  /** What it has inside counts with the others of its kind. */
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

  #hasTurn(member: Member, now: number): boolean {
    if (this.#modestInside > 0) return false
    return member.inside < this.#bounds.turns || now - this.#modestAt >= this.#bounds.pauseMs
  }

  /** In another turn of the event loop: what has arrived from others meanwhile is read first. */
  #admitSoon(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined
      this.#admit()
    })
  }

  /** Lets in whose turn it is, and whose patience is at its end. */
  #admit(): void {
    const now = this.#clock.now()
    for (const member of [...this.#turns]) {
      const isLate = member.inside === 0 && now - member.waiting[0]!.since >= this.#bounds.patienceMs
      if (!isLate && !this.#hasTurn(member, now)) continue
      this.#turns.delete(member)
      const { come } = member.waiting.shift()!
      this.#take(member)
      // The next of its requests waits behind those of others.
      if (member.waiting.length > 0) this.#turns.add(member)
      come()
    }
  }

  #lookLater(): void {
    this.#cancelLook ??= this.#clock.after(this.#bounds.patienceMs, () => {
      this.#cancelLook = undefined
      this.#admit()
      if (this.#turns.size > 0) this.#lookLater()
    })
  }

  #forgetIdle(): void {
    const now = this.#clock.now()
    for (const [key, { inside, waiting, greedyUntil }] of this.#members) {
      if (inside === 0 && waiting.length === 0 && greedyUntil <= now) this.#members.delete(key)
    }
  }
}
