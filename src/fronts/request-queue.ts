import { companyLimits } from '../gateway-limits.ts'
import { Attachment } from '../lib/attachment.ts'
import { type Clock, steadyClock } from '../lib/clock.ts'
import { FairQueue, type Member } from '../lib/fair-queue.ts'
import { LoopSlots } from '../lib/loop-slots.ts'
import { RateMeter } from '../lib/rate-meter.ts'
import { networkOf } from '../security/ip-address.ts'

/** How long a caller counts as active after a request, in ms. */
const aboutMs = 1_000
/** How long a request counts as in process, in ms: streams and calls that wait have done their part by then. */
const processMs = 100
/** How many of all requests wait for those of others at most; more begin at once. All connections together have a few for each. */
const waitingMax = 10_000
/** How many requests of a caller that is alone begin in one iteration of the event loop: others may come in the next one. */
const aloneMax = 32
const { paced, pacedAtOnce } = companyLimits
/** The pace of an address. A valid key that was not used before has to wait for it too, so the wait is short. */
const addressPace = { max: paced.max * pacedAtOnce.max, windowMs: 1_000 * pacedAtOnce.max, owed: 10 }
const queueBounds = { few: 4, atOnce: 2, rememberMs: 250, pauseMs: 30, patienceMs: 25 }

interface Request {
  readonly credential: string
  readonly work: () => void
  /** It was answered, or its client has gone away. */
  isOver: boolean
  /** Since it has begun. */
  member: Member | undefined
  begunAt: number
  /** Ends its wait for the pace of its address. */
  stopWaiting: (() => void) | undefined
}

/** What can be done for a request that has begun, by its answer. */
interface Queued {
  /** Ends its time in the queue. */
  readonly leave: () => void
  /** Its key was found to be valid. */
  readonly prove: () => void
}

const queued = new Attachment<object, Queued>('queued')

/** Keeps what `leaveRequestQueue` and `noteKeyIsValid` do for the request of an answer. */
export function noteQueued(answer: object, known: Queued): void {
  queued.set(answer, known)
}

/** Notes that the key of a request is valid: the next requests with it are a caller of their own. */
export function noteKeyIsValid(answer: object): void {
  queued.get(answer)?.prove()
}

/** Ends the time of a request in the queue before it is answered: its caller's share decides from now on. */
export function leaveRequestQueue(answer: object): void {
  queued.get(answer)?.leave()
}

/**
 * Decides when a request begins, before anything is done for it: until its key is checked, a request costs as much as one that is
 * answered.
 *
 * - The requests of a credential with many at a time wait for those of others. A caller that is alone does not wait.
 * - While connections arrive, those of such a credential wait for them too. The event loop accepts one connection in each iteration, and the
 *   connection of another caller may be the last one: iterations without such requests are short.
 * - While others are active, requests of one address whose keys are not known to be valid begin at the pace of an agent: they cost the same, and
 *   have no share of their own. One waits two seconds at most.
 */
export class RequestQueue {
  readonly #clock: Clock
  readonly #queue: FairQueue
  readonly #valid = new RecentKeys()
  readonly #alone = new LoopSlots(aloneMax)
  readonly #addresses = new RateMeter({ keysMax: 10_000, windowMs: addressPace.windowMs * addressPace.owed })
  /** In the order in which they began. */
  readonly #begun = new Set<Request>()
  #isWatched = false
  #waiting = 0
  /** Whether a connection was accepted since the last look. */
  #hasConnection = false
  #isLooking = false
  #last: string | undefined
  #othersUntil = Number.NEGATIVE_INFINITY

  constructor(clock: Clock = steadyClock) {
    this.#clock = clock
    this.#queue = new FairQueue(clock, queueBounds)
  }

  /**
   * Whose request it is. A key counts once it was found to be valid; until then the address does, whatever keys are sent from it: one
   * sender that makes up a key for each request is one caller.
   */
  credentialOf(key: string | undefined, address: string): string {
    return key !== undefined && this.#valid.has(key) ? key : networkOf(address)
  }

  /** Notes that a key was found to be valid. */
  prove(key: string | undefined): void {
    if (key !== undefined) this.#valid.add(key)
  }

  /**
   * Begins a request now, or when the queue lets it. Returns how to end it; one that ends before that never begins.
   * @param credential as `credentialOf` returns it
   * @param work begins it; also given how to end it, for a request that waits elsewhere before it is answered
   */
  begin(credential: string, work: (end: () => void) => void): () => void {
    const request: Request = {
      credential,
      work: () => work(end),
      isOver: false,
      member: undefined,
      begunAt: 0,
      stopWaiting: undefined,
    }
    const end = (): void => {
      request.isOver = true
      request.stopWaiting?.()
      this.#leave(request)
    }
    this.#enter(request)
    return end
  }

  /** Notes that a connection was accepted in this iteration of the event loop: more of them may wait. */
  noteConnection(): void {
    this.#hasConnection = true
    if (this.#isLooking) return
    this.#isLooking = true
    this.#queue.pause()
    this.#lookForMore()
  }

  /** No more connections wait after an iteration without one. */
  #lookForMore(): void {
    this.#hasConnection = false
    // The first one is at the end of this iteration.
    setImmediate(() =>
      setImmediate(() => {
        if (this.#hasConnection) return this.#lookForMore()
        this.#isLooking = false
        this.#queue.resume()
      }),
    )
  }

  #enter(request: Request): void {
    this.#noteCompany(request.credential)
    const waitMs = this.#paceOf(request.credential)
    if (waitMs > 0) request.stopWaiting = this.#clock.after(waitMs, () => this.#enterInTime(request))
    else this.#enterInTime(request)
  }

  /** How long a request waits for the pace of its address, in ms. */
  #paceOf(credential: string): number {
    if (!this.#hasCompany || this.#valid.has(credential)) return 0
    const now = this.#clock.now()
    const waitMs = this.#addresses.waitMs(credential, addressPace, now)
    this.#addresses.charge(credential, 1, addressPace, now)
    return waitMs
  }

  #enterInTime(request: Request): void {
    const slot = this.#hasCompany ? undefined : this.#alone.take()
    if (slot) void slot.then(() => this.#enterQueue(request))
    else this.#enterQueue(request)
  }

  #enterQueue(request: Request): void {
    const inCompany = this.#hasCompany && this.#waiting < waitingMax
    const entered = this.#queue.enter(request.credential, inCompany)
    if (!(entered instanceof Promise)) {
      this.#go(request, entered)
      return
    }
    this.#waiting++
    void entered.then((member) => {
      this.#waiting--
      this.#go(request, member)
    })
  }

  #go(request: Request, member: Member): void {
    request.member = member
    request.begunAt = this.#clock.now()
    this.#begun.add(request)
    this.#watch()
    if (request.isOver) this.#leave(request)
    else request.work()
  }

  #leave(request: Request): void {
    if (this.#begun.delete(request)) this.#queue.leave(request.member!)
  }

  #noteCompany(credential: string): void {
    if (this.#last === credential) return
    if (this.#last !== undefined) this.#othersUntil = this.#clock.now() + aboutMs
    this.#last = credential
  }

  /** While connections arrive, callers that nobody knows of yet may wait for theirs to be accepted. */
  get #hasCompany(): boolean {
    return this.#isLooking || this.#clock.now() <= this.#othersUntil
  }

  /** Ends what has been in process for long. */
  #watch(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    this.#clock.after(processMs, () => {
      this.#isWatched = false
      const now = this.#clock.now()
      for (const request of this.#begun) {
        if (now - request.begunAt < processMs) break
        this.#leave(request)
      }
      if (this.#begun.size > 0) this.#watch()
    })
  }
}

/** Keys that were found to be valid, the newest ones. A key that has ended since is only a caller of its own. */
class RecentKeys {
  readonly #max = 4_096
  readonly #keys = new Set<string>()

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  add(key: string): void {
    if (this.#keys.has(key)) return
    if (this.#keys.size >= this.#max) this.#keys.delete(this.#keys.values().next().value!)
    this.#keys.add(key)
  }
}
