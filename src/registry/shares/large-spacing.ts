import { companyLimits } from '../../gateway-limits.ts'
import { type Clock, sleep } from '../../lib/clock.ts'
import { type Allowance, RateMeter } from '../../lib/rate-meter.ts'
import { MiB } from '../../limits.ts'
import type { QueuePlace } from './queue-place.ts'

const { largeBytes, largeWait } = companyLimits
/** How many paths with large answers are remembered, for all callers. */
const rememberedMax = 10_000

/** What is known of a request before it is read. */
export interface Bulk {
  /**
   * The path of the request, or the method in its body if all bodies go to one path. If the last one with this name had a large answer for
   * this caller, the next one is expected to have one too. undefined: not known, or not yet.
   */
  what: string | undefined
  /** The announced size of the body in bytes; 0: none, or none announced. */
  readonly bytes: number
  /** The size of a body whose size was not announced, once it has arrived. */
  arrived: number
  /** The bytes that were counted so far: of its body, of the answer that was expected, of the content that it reads. */
  counted: number
  /** The bytes of content that it was allowed to read. */
  read: number
  /** How many parts of the gateway work on it. */
  working: number
  /** Whether its answer is over, or its client has gone away. */
  isClosed: boolean
  /** Its place among the requests that are processed, once it has one. */
  place: QueuePlace | undefined
  /** Returns a signal that aborts when the client goes away. */
  readonly gone: () => AbortSignal
}

/** What is known of a request of which nothing was counted or read yet. */
export function newBulk(known: Pick<Bulk, 'what' | 'bytes' | 'gone'>): Bulk {
  return { arrived: 0, counted: 0, read: 0, working: 0, isClosed: false, place: undefined, ...known }
}

/**
 * Spaces the large requests and answers of one agent while other agents send requests. Reading or writing a megabyte keeps the one
 * thread busy for several ms. With the spacing, about one in a hundred requests of the others waits for that.
 */
export class LargeSpacing {
  readonly #clock: Clock
  readonly #meter = new RateMeter()
  /** The bytes of the last answer, where it was large. */
  readonly #large = new Map<string, number>()
  /** Who is asking for what, where it is not known whether that is large. */
  readonly #asking = new Map<string, Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the bytes that a request and its answer are expected to have, if it is large; else 0. */
  expected(agentId: string, { what, bytes }: Bulk): number {
    const known = this.#large.size === 0 || what === undefined ? 0 : (this.#large.get(`${agentId} ${what}`) ?? 0)
    const most = Math.max(bytes, known)
    return most > largeBytes.max ? most : 0
  }

  /**
   * Waits while a request of the same agent with the same name is being answered: its answer shows how large this one will be. Otherwise
   * requests that come together would all begin as small ones. Returns the function to call when the answer is over, or has to wait.
   */
  async enterAlone(agentId: string, request: Bulk): Promise<() => void> {
    const key = `${agentId} ${request.what}`
    for (let other = this.#asking.get(key); other; other = this.#asking.get(key)) await other
    if (this.expected(agentId, request) > 0) return () => {}
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#asking.set(key, ended)
    return () => {
      if (this.#asking.get(key) === ended) this.#asking.delete(key)
      end()
    }
  }

  /** Whether a request of the same agent with the same name is being answered. */
  isAsked(agentId: string, { what }: Bulk): boolean {
    return this.#asking.has(`${agentId} ${what}`)
  }

  /** Counts a large request and lets it begin. False: it has to wait. */
  mayBegin(agentId: string, request: Bulk, bytes: number, allowance: Allowance): boolean {
    if (this.waitMs(agentId, allowance) > 0) return false
    this.countMore(agentId, request, bytes, allowance)
    return true
  }

  /** Counts bytes of a request that has begun. */
  countMore(agentId: string, request: Bulk, bytes: number, allowance: Allowance): void {
    this.#count(agentId, bytes, allowance)
    request.counted += bytes
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

  /** Notes the bytes of a request and its answer, or of its answer so far. `allowance`: what they count against; undefined: nothing. */
  note(agentId: string, request: Bulk, bytes: number, allowance: Allowance | undefined): void {
    const isLarge = bytes > largeBytes.max
    if (request.what !== undefined) this.#remember(`${agentId} ${request.what}`, isLarge ? bytes : 0)
    if (!isLarge) return
    if (allowance && bytes > request.counted) this.countMore(agentId, request, bytes - request.counted, allowance)
  }

  #remember(key: string, bytes: number): void {
    if (bytes === 0 && this.#large.size === 0) return
    this.#large.delete(key)
    if (bytes === 0) return
    if (this.#large.size >= rememberedMax) this.#large.delete(this.#large.keys().next().value!)
    this.#large.set(key, bytes)
  }

  #count(agentId: string, bytes: number, allowance: Allowance): void {
    this.#meter.charge(agentId, bytes / MiB, allowance, this.#clock.now())
  }
}
