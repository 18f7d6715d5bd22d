import type { Problem } from '../../errors.ts'
import { companyLimits, openLimits } from '../../gateway-limits.ts'
import { type Clock, sleep } from '../../lib/clock.ts'
import type { Leave } from '../../lib/keyed-semaphore.ts'
import { sliceBytes } from '../../lib/pauses.ts'
import type { Allowance } from '../../lib/rate-meter.ts'
import { allowanceOf } from '../../share-limits.ts'
import type { Caller } from '../callers/caller.ts'
import { limitFor } from './caller-limits.ts'
import type { Company } from './company.ts'
import { ContentAtOnce } from './content-at-once.ts'
import { type Bulk, LargeSpacing } from './large-spacing.ts'
import { tooManyBodies, tooMuchContent, usedUp } from './refusals.ts'

const { largeBytes } = companyLimits
const limitName = 'largeMegabytesPerMinute'
/** How often a waiting event looks whether others still send requests, in ms. */
const lookMs = 1_000

/** A request that is large, or expected to be, with what it counts against. */
export interface LargeRequest {
  readonly caller: Caller
  readonly request: Bulk
  readonly bytes: number
  readonly allowance: Allowance
}

/**
 * Decides when large requests, parts of them and their answers may begin. The operator is exempt, and so is who is alone; only how much
 * content is in memory at the same time is bounded for them too.
 */
export class LargeRequests {
  readonly #clock: Clock
  readonly #company: Company
  readonly #spacing: LargeSpacing
  readonly #content: ContentAtOnce
  readonly #bodies: ContentAtOnce

  constructor(clock: Clock, company: Company) {
    this.#clock = clock
    this.#company = company
    this.#spacing = new LargeSpacing(clock)
    this.#content = new ContentAtOnce(clock, openLimits.contentAtOnce.max)
    this.#bodies = new ContentAtOnce(clock, openLimits.bodiesAtOnce.max)
  }

  /** Undefined: the request is not expected to be large, or nothing limits it. */
  expect(caller: Caller, request: Bulk): LargeRequest | undefined {
    const bytes = this.#spacing.expected(caller.id, request)
    const allowance = bytes === 0 ? undefined : largeAllowance(caller)
    return allowance && { caller, request, bytes, allowance }
  }

  /** Counts a large request and lets it begin. False: it has to wait. */
  mayBegin({ caller, request, bytes, allowance }: LargeRequest): boolean {
    return this.#spacing.mayBegin(caller.id, request, bytes, allowance)
  }

  /** Waits until a large request may begin, and begins it. False: that would take too long, or the client has gone away. */
  async wait(large: LargeRequest): Promise<boolean> {
    if (this.mayBegin(large)) return true
    const { caller, request, bytes, allowance } = large
    return outside(request, () => this.#spacing.wait(caller.id, request, bytes, allowance))
  }

  /** Returns the `rate-limited` of a request that would wait too long. */
  refusal({ caller, allowance }: Pick<LargeRequest, 'caller' | 'allowance'>): Problem {
    return usedUp(caller, limitName, limitFor(caller, limitName), this.#spacing.waitMs(caller.id, allowance))
  }

  /**
   * Lets a part of a request that reads begin. While others send requests, it waits only for another part of the caller that reads the
   * same: the request has begun already. Returns how to end it, also where it begins to wait for something. Errors: `rate-limited`
   * where it is expected to be large and may not begin yet.
   */
  async beginPart(caller: Caller, part: Bulk): Promise<Leave> {
    if (this.#isFree(caller)) return () => {}
    const alone = (): Promise<Leave> => this.#spacing.enterAlone(caller.id, part)
    const leave = await (this.#spacing.isAsked(caller.id, part) ? outside(part, alone) : alone())
    const large = this.expect(caller, part)
    if (!large || this.mayBegin(large)) return leave
    leave()
    throw this.refusal(large)
  }

  /**
   * Lets a request wait that has begun already and was named by its body: if a large answer is expected and other callers send requests,
   * until it may begin. False: its client has disconnected. Errors: `rate-limited`.
   */
  async beginNamed(caller: Caller, request: Bulk): Promise<boolean> {
    if (this.#isFree(caller)) return true
    // Its body was counted at the door.
    const large = request.counted > 0 ? undefined : this.expect(caller, request)
    if (!large || (await this.wait(large))) return true
    if (request.gone().aborted) return false
    throw this.refusal(large)
  }

  /**
   * Lets the body of a request be read, before any of it is. Large bodies wait until the caller has few enough in memory, and count until
   * the work of the request and its answer are over.
   * @param bytes the announced length, or the most that the body may have
   * @returns false if its client has disconnected
   */
  async beginUpload(caller: Caller, request: Bulk, bytes: number): Promise<boolean> {
    if (bytes <= largeBytes.max) return true
    const key = keyOf(caller)
    if (this.#bodies.takeNow(key, request, bytes)) return true
    if (await outside(request, () => this.#bodies.take(key, request, bytes))) return true
    if (request.gone().aborted) return false
    throw tooManyBodies(caller)
  }

  /** The body of a request has arrived: it counts with its own size, if it is large. */
  endUpload(caller: Caller, request: Bulk, bytes: number): void {
    request.arrived = bytes
    this.#bodies.keepOnly(keyOf(caller), request, bytes > largeBytes.max ? bytes : 0)
  }

  /**
   * Lets the body of a request go on whose size was not announced: a message of gRPC, which has arrived. If that is more than was counted
   * and others send requests, it waits like a request that announces its size. False: its client has disconnected, and the body counts against the rate.
   * Errors: `rate-limited`; then the next request of this name waits before its body is read.
   */
  async beginBody(caller: Caller, request: Bulk, bytes: number): Promise<boolean> {
    const more = bytes - request.counted
    const allowance = more <= largeBytes.max || this.#isFree(caller) ? undefined : largeAllowance(caller)
    if (!allowance) return true
    const large = { caller, request, bytes: more, allowance }
    if (await this.wait(large)) return true
    const isGone = request.gone().aborted
    this.#spacing.note(caller.id, request, bytes, isGone ? allowance : undefined)
    if (isGone) return false
    throw this.refusal(large)
  }

  /** Counts the body of a request like one of so many bytes, while others send requests. */
  weigh(caller: Caller, request: Bulk, bytes: number): void {
    const allowance = this.#isFree(caller) ? undefined : largeAllowance(caller)
    const more = bytes - request.counted
    if (allowance && more > 0) this.#spacing.countMore(caller.id, request, more, allowance)
  }

  /**
   * Lets a request that has begun read content of a known size. Large content waits until the caller has little enough in memory, and
   * counts until `endReading`, or until `close` and the end of its work. Errors: `rate-limited`.
   */
  async beginReading(caller: Caller, request: Bulk, bytes: number): Promise<void> {
    await this.#space(caller, request, bytes)
    if (request.read > sliceBytes) stepOut(request)
    if (request.read <= largeBytes.max || bytes === 0) return
    const key = keyOf(caller)
    if (this.#content.takeNow(key, request, bytes)) return
    if (!(await outside(request, () => this.#content.take(key, request, bytes)))) throw tooMuchContent(caller)
  }

  /**
   * Does the work of a request. Its content counts until the work is over, also if its client goes away before: the work has it in memory.
   */
  async during<T>(caller: Caller, request: Bulk, work: () => Promise<T>): Promise<T> {
    if (Math.max(request.bytes, request.arrived) > sliceBytes) stepOut(request)
    request.working += 1
    try {
      return await work()
    } finally {
      request.working -= 1
      this.#endClosed(caller, request)
    }
  }

  /** Notes that the answer of a request is over, or its client has gone away. */
  close(caller: Caller, request: Bulk): void {
    request.isClosed = true
    this.#endClosed(caller, request)
  }

  #endClosed(caller: Caller, request: Bulk): void {
    if (!request.isClosed || request.working > 0) return
    this.endReading(caller, request)
    this.#bodies.free(keyOf(caller), request)
  }

  /** Ends what a request has read: the event that was made of it is written, or its work and its answer are over. */
  endReading(caller: Caller, request: Bulk): void {
    this.#content.free(keyOf(caller), request)
  }

  /**
   * Waits until a large event of a stream may be written, while others send requests, and counts it. What was counted for the request
   * before, as its body, covers the first event. It is not refused: its stream is open already, and loads no further event. Resolves
   * early when the signal aborts.
   */
  async beginEvent(caller: Caller, request: Bulk, bytes: number, gone: AbortSignal): Promise<void> {
    const more = request.read === 0 ? bytes - request.counted : bytes
    request.read += bytes
    if (more <= largeBytes.max) return
    while (!gone.aborted && !this.#isFree(caller)) {
      const allowance = largeAllowance(caller)
      if (!allowance || this.#spacing.mayBegin(caller.id, request, more, allowance)) return
      await sleep(this.#clock, Math.min(this.#spacing.waitMs(caller.id, allowance), lookMs), gone)
    }
  }

  /**
   * Spaces the content that requests read. If that is more than was counted and others send requests, the first
   * content of the request waits like a large request, and further content is only counted. Without this, an agent could read large
   * content by many paths at once: the first answer of a path is not expected to be large. Errors: `rate-limited`.
   */
  async #space(caller: Caller, request: Bulk, bytes: number): Promise<void> {
    const isFirst = request.read === 0
    request.read += bytes
    const more = request.read - request.counted
    if (more <= largeBytes.max || this.#isFree(caller)) return
    const allowance = largeAllowance(caller)
    if (!allowance) return
    const large = { caller, request, bytes: more, allowance }
    if (!isFirst) this.#spacing.countMore(caller.id, request, more, allowance)
    else if (!(await this.wait(large))) throw this.refusal(large)
  }

  /** Notes how many bytes a request and its answer had. */
  note(caller: Caller, request: Bulk, bytes: number): void {
    const allowance = this.#company.isAround(caller.id) ? largeAllowance(caller) : undefined
    this.#spacing.note(caller.id, request, bytes, allowance)
  }

  #isFree(caller: Caller): boolean {
    return caller.kind === 'operator' || !this.#company.isAround(caller.id)
  }
}

/** What a large request does is done in slices, which rest while others are active. With a place it would hold them up meanwhile. */
function stepOut({ place }: Bulk): void {
  place?.stepOut()
}

/** Waits without a place among the requests that are processed. */
function outside<T>({ place }: Bulk, wait: () => Promise<T>): Promise<T> {
  return place ? place.outside(wait) : wait()
}

/** All operators have the same id, but each key is a separate caller. */
const keyOf = ({ kind, id, keyId }: Caller): string => (kind === 'operator' ? keyId : id)

/** What a large request counts against. Undefined: no limit. */
function largeAllowance(caller: Caller): Allowance | undefined {
  const max = limitFor(caller, limitName)
  return max === 0 ? undefined : allowanceOf(limitName, max)
}
