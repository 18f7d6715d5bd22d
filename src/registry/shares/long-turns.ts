import { companyLimits } from '../../gateway-limits.ts'
import { type Clock, sleep } from '../../lib/clock.ts'
import { type Allowance, RateMeter } from '../../lib/rate-meter.ts'
import { MiB } from '../../limits.ts'

const { largeBytes, largeWait } = companyLimits
/** How many paths with large answers are remembered, for all callers. */
const rememberedMax = 10_000

/** What is known of a request before it is read. */
export interface Bulk {
  /** The path. A path that had a large answer for this caller is expected to have one again. */
  readonly what: string
  /** The announced size of the body in bytes; 0: none, or none announced. */
  readonly bytes: number
  /** The bytes that were counted when it began. */
  counted: number
  /** Makes a signal that aborts when the client goes away. */
  readonly gone: () => AbortSignal
}

/**
 * Spaces the large requests and answers of one agent while other agents send requests. Reading or writing a megabyte keeps the one
 * thread busy for several ms. With the spacing, about one in a hundred requests of the others waits for that.
 */
export class LongTurns {
  readonly #clock: Clock
  readonly #meter = new RateMeter()
  /** The bytes of the last answer, where it was large. */
  readonly #large = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the bytes that a request and its answer are expected to have, if it is large; else 0. */
  expected(agentId: string, { what, bytes }: Bulk): number {
    const known = this.#large.size === 0 ? 0 : (this.#large.get(`${agentId} ${what}`) ?? 0)
    const most = Math.max(bytes, known)
    return most > largeBytes.max ? most : 0
  }

  /** Counts a large request and lets it begin. False: it has to wait. */
  mayBegin(agentId: string, request: Bulk, bytes: number, allowance: Allowance): boolean {
    if (this.waitMs(agentId, allowance) > 0) return false
    this.#count(agentId, bytes, allowance)
    request.counted = bytes
    return true
  }

  /** How long it is until a large request may begin, in ms. */
  waitMs(agentId: string, allowance: Allowance): number {
    return this.#meter.waitMs(agentId, allowance, this.#clock.now())
  }

  /** Waits until a large request may begin, and begins it. False: that would take too long, or the client has gone away. */
  async wait(agentId: string, request: Bulk, bytes: number, allowance: Allowance): Promise<boolean> {
    const until = this.#clock.now() + largeWait.max * 1_000
    const gone = request.gone()
    while (!this.mayBegin(agentId, request, bytes, allowance)) {
      const ms = this.waitMs(agentId, allowance)
      if (this.#clock.now() + ms > until) return false
      await sleep(this.#clock, ms, gone)
      if (gone.aborted) return false
    }
    return true
  }

  /** Notes the bytes of a request and its answer. `allowance`: what they count against; undefined: nothing. */
  note(agentId: string, request: Bulk, bytes: number, allowance: Allowance | undefined): void {
    const isLarge = bytes > largeBytes.max
    if (!isLarge && this.#large.size === 0) return
    const key = `${agentId} ${request.what}`
    this.#large.delete(key)
    if (!isLarge) return
    if (this.#large.size >= rememberedMax) this.#large.delete(this.#large.keys().next().value!)
    this.#large.set(key, bytes)
    if (allowance && bytes > request.counted) this.#count(agentId, bytes - request.counted, allowance)
  }

  #count(agentId: string, bytes: number, allowance: Allowance): void {
    this.#meter.charge(agentId, bytes / MiB, allowance, this.#clock.now())
  }
}
