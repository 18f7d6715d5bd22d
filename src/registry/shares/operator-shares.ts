import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyedSemaphore, type Leave } from '../../lib/keyed-semaphore.ts'
import { RateMeter } from '../../lib/rate-meter.ts'
import { MiB } from '../../limits.ts'
import { operatorAllowances, operatorLimits } from '../../operator-limits.ts'
import { type Caller, operator } from '../callers/caller.ts'
import { busyRetrySeconds } from './refusals.ts'

const { operatorRequestsAtOnce, operatorRequestsInLine } = operatorLimits
type OperatorRate = keyof typeof operatorAllowances

/** Whether nothing limits a caller: the admin key has to work when everybody else is refused. */
export function isUnlimited({ keyId }: Pick<Caller, 'keyId'>): boolean {
  return keyId === operator.keyId
}

/** What operators use of this gateway: each key and each token for itself. */
export class OperatorShares {
  readonly #clock: Clock
  readonly #requests = new RateMeter()
  readonly #megabytes = new RateMeter()
  readonly #places = new KeyedSemaphore()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a request. Errors: `rate-limited`. */
  spendRequest(caller: Caller): void {
    const { operatorRequestsPerMinute: requests, operatorMegabytesPerMinute: megabytes } = operatorAllowances
    const now = this.#clock.now()
    const waitMs = this.#requests.spend(caller.keyId, requests.max, requests.windowMs, now)
    if (waitMs > 0) throw usedUp(caller, 'operatorRequestsPerMinute', waitMs)
    const bytesWaitMs = this.#megabytes.waitMs(caller.keyId, megabytes, now)
    if (bytesWaitMs > 0) throw usedUp(caller, 'operatorMegabytesPerMinute', bytesWaitMs)
  }

  /** Counts a request as `count` more, as `Shares.spendFurther`. Errors: `rate-limited`. */
  spendFurther(caller: Caller, count: number): void {
    const { operatorRequestsPerMinute: requests } = operatorAllowances
    const waitMs = this.#requests.spendFurther(caller.keyId, requests, this.#clock.now(), count)
    if (waitMs > 0) throw usedUp(caller, 'operatorRequestsPerMinute', waitMs)
  }

  /** Counts the bytes of a request and its answer. */
  noteBytes({ keyId }: Caller, bytes: number): void {
    this.#megabytes.charge(keyId, bytes / MiB, operatorAllowances.operatorMegabytesPerMinute, this.#clock.now())
  }

  /** Gives a request a place, or a promise of it where it has to wait. Errors: `rate-limited` where too many wait. */
  enter(caller: Caller): Leave | Promise<Leave> {
    const room = { inside: operatorRequestsAtOnce.max, waiting: operatorRequestsInLine.max }
    const place = this.#places.enter(caller.keyId, room)
    if (place !== undefined) return place
    throw new Problem('rate-limited', {
      detail: `This key of ${caller.identity} has ${room.inside} requests under way (operatorRequestsAtOnce) and ${room.waiting} waiting (operatorRequestsInLine). Wait for answers before you ask for more.`,
      extra: { limit: room.waiting, limitName: 'operatorRequestsInLine', retryAfterSeconds: busyRetrySeconds },
    })
  }
}

function usedUp(caller: Caller, name: OperatorRate, waitMs: number): Problem {
  const { max, unit, what } = operatorLimits[name]
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new Problem('rate-limited', {
    detail: `This key of ${caller.identity} has used up ${name}: ${max} ${unit} (${what}). Wait ${retryAfterSeconds} s.`,
    extra: { limit: max, limitName: name, retryAfterSeconds },
  })
}
