import { Problem } from '../errors.ts'
import { type Clock, sleep } from '../lib/clock.ts'
import { type Entry, type Release, type Room, Semaphores } from '../lib/semaphores.ts'
import { TokenBuckets } from '../lib/token-buckets.ts'
import { gatewayLimits } from '../limits.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { counterOf, isUnlimited } from './counter.ts'
import { Overload } from './overload.ts'
import { type RateName, Rates } from './rates.ts'
import { type Slot, Slots, unlimitedSlot } from './slots.ts'
import { UnreadAnswers } from './unread-answers.ts'

/** The longest wait for room, in ms. */
const waitMs = 10_000

const ofAll = { max: gatewayLimits.bytesInFlight.max, queued: 10_000 }

/** Agents of one project together keep nobody else from sending, also with bodies that never end. */
const ofProject = { max: ofAll.max / 2, queued: 5_000 }

/** Eight of the largest bodies, by default: as many requests as an agent has at a time. */
const ofCaller = { max: ofAll.max / 16, queued: 256 }

/** Bounds the bytes of bodies that are in memory at a time, of each caller, of each project and of all together. */
class BytesInFlight {
  readonly #lines: Semaphores
  readonly #bodyMax: number

  constructor(clock: Clock, bodyMax: number) {
    this.#lines = new Semaphores({ clock, waitMs })
    this.#bodyMax = bodyMax
  }

  /** Call the returned function with the size of a body that has arrived, and without it when its request is over. Errors: `rate-limited`. */
  async hold(caller: Caller, bytes = this.#bodyMax): Promise<Release> {
    if (isUnlimited(caller)) return () => {}
    const entry = (key: string, room: Room, who = key): Entry => ({
      key,
      room,
      refusal: () => tooManyBytes(who, room.max),
    })
    return this.#lines.enterAll(
      [
        entry(counterOf(caller), ofCaller, caller.identity),
        ...(caller.kind === 'agent' ? [entry(`Project ${caller.projectId}`, ofProject)] : []),
        entry('The gateway', ofAll),
      ],
      bytes,
    )
  }
}

/** Refusals of one caller that are sent at once; more than these within a minute are sent a second late. */
const promptRefusals = { size: 120, windowMs: 60_000 }
const lateRefusalMs = 1_000

/** The cost of a request, before anything is done for it. */
interface Cost {
  /** How many requests it counts as. Default: 1. */
  readonly requests?: number
  /** It lists or revokes keys or permissions: it is admitted whatever its agent has used up. */
  readonly isRevocation?: boolean
}

interface AdmissionOptions {
  readonly clock: Clock
  readonly unread?: UnreadAnswers | undefined
  readonly overload?: Pick<Overload, 'isOver'> | undefined
  /** The largest body of a request, in bytes. */
  readonly bodyMax: number
}

/** The only place that refuses a caller for asking too often or too much. The admin key is never refused. */
export class Admission implements Disposable {
  readonly unread: UnreadAnswers
  readonly #clock: Clock
  readonly #rates: Rates
  readonly #slots: Slots
  readonly #bytes: BytesInFlight
  readonly #overload: Pick<Overload, 'isOver'>
  readonly #owned: Overload | undefined
  readonly #refusals = new TokenBuckets()

  constructor({ clock, bodyMax, unread = new UnreadAnswers(), overload }: AdmissionOptions) {
    this.#clock = clock
    this.unread = unread
    this.#rates = new Rates(clock)
    this.#slots = new Slots(clock)
    this.#bytes = new BytesInFlight(clock, bodyMax)
    this.#owned = overload ? undefined : new Overload()
    this.#overload = overload ?? this.#owned!
  }

  /**
   * Admits a request of a caller: counts it, and gives it a slot, at once or after a short wait. Release the slot when the request is
   * answered, or waits for something else. Errors: `rate-limited`, `limit-exceeded`, `overloaded`.
   */
  async admit(caller: Caller, { requests = 1, isRevocation = false }: Cost = {}): Promise<Slot> {
    if (isUnlimited(caller)) return unlimitedSlot
    if (isRevocation && this.#rates.takeRevocation(caller)) return unlimitedSlot
    try {
      if (this.#overload.isOver()) throw overloaded()
      this.unread.requireRoom(caller)
      this.#rates.spendRequests(caller, requests)
      return await this.#slots.enter(caller)
    } catch (refusal) {
      await this.#delayRefusal(caller)
      throw refusal
    }
  }

  /** True: requests are refused because the gateway has too much work. */
  get isOverloaded(): boolean {
    return this.#overload.isOver()
  }

  /** Counts `count` acts of an agent against a rate, all or none. Each `kind` of acts has the whole rate. Errors: `rate-limited`. */
  spend(caller: Caller, name: RateName, kind = '', count = 1): void {
    this.#rates.spend(caller, { name, kind }, count)
  }

  /** Requires that something of a rate is left, and takes nothing. Errors: `rate-limited`. */
  requireLeft(caller: Caller, name: RateName, kind = ''): void {
    this.#rates.requireLeft(caller, { name, kind })
  }

  /** Charges the rate for acts that already happened, even if that overdraws it. */
  charge(caller: Caller, name: RateName, kind = '', count = 1): void {
    this.#rates.charge(caller, { name, kind }, count)
  }

  /** Counts the bytes of a request and its answer: further requests are refused when too many were moved. */
  noteBytes(caller: Caller, bytes: number): void {
    if (!isUnlimited(caller)) this.#rates.chargeBytes(caller, bytes)
  }

  /**
   * Holds room for the body of a request. Waits a short time where too much is in flight. Call the returned function with the size of the
   * body when it has arrived, and without it when the request is over.
   * @param bytes undefined: its length is not known, so it counts as the largest one
   * Errors: `rate-limited`.
   */
  holdBody(caller: Caller, bytes: number | undefined): Promise<Release> {
    return this.#bytes.hold(caller, bytes)
  }

  [Symbol.dispose](): void {
    this.#owned?.[Symbol.dispose]()
  }

  async #delayRefusal(caller: Caller): Promise<void> {
    if (this.#refusals.spend(counterOf(caller), promptRefusals, this.#clock.now()) > 0) {
      await sleep(this.#clock, lateRefusalMs)
    }
  }
}

const overloaded = (): Problem =>
  new Problem('overloaded', {
    detail: 'The gateway has more work than it can do at the moment. Try again in a few seconds.',
    extra: { limit: 'loopDelay', retryAfterSeconds: 5 },
  })

function tooManyBytes(who: string, max: number): Problem {
  return new Problem('rate-limited', {
    detail: `${who} has ${max} bytes of bodies in requests that are not answered (bytesInFlight). Wait for answers before you send more.`,
    extra: { limit: max, limitName: 'bytesInFlight', retryAfterSeconds: 1 },
  })
}
