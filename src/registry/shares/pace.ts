import { companyLimits } from '../../gateway-limits.ts'
import { type Clock, sleep, steadyClock } from '../../lib/clock.ts'
import { type Allowance, RateMeter } from '../../lib/rate-meter.ts'
import type { Caller } from '../callers/caller.ts'
import { limitFor } from './caller-limits.ts'

const { paced, pacedAtOnce } = companyLimits
const secondMs = 1_000
/** Requests that wait for the pace owe it; more than these are not in the queue of an agent. */
const owed = 50

/**
 * Spaces the requests of agents that make many while others are active. An agent that is alone may use its whole `requestsPerMinute` at once;
 * beside others it begins `paced` requests in each second: those of the first `pacedAtOnce` at once, the further ones evenly spaced. The pace
 * itself refuses nothing.
 */
export class Pace {
  readonly #clock: Clock
  readonly #meter = new RateMeter()

  constructor(clock: Clock = steadyClock) {
    this.#clock = clock
  }

  /** Counts a request of an agent. Returns when it may begin, in ms of the clock; undefined: now. */
  count(caller: Caller): number | undefined {
    const allowance = allowanceOf(caller)
    if (!allowance) return undefined
    const now = this.#clock.now()
    const waitMs = this.#meter.waitMs(caller.id, allowance, now)
    this.#meter.charge(caller.id, 1, allowance, now)
    return waitMs === 0 ? undefined : now + waitMs
  }

  /** Counts a request that has begun as several: it takes as much of the thread. */
  countFurther(caller: Caller, further: number): void {
    const allowance = allowanceOf(caller)
    if (allowance) this.#meter.charge(caller.id, further, allowance, this.#clock.now())
  }

  /** Waits until a counted request may begin, or its client has gone away. */
  async wait(until: number | undefined, gone?: AbortSignal): Promise<void> {
    const ms = until === undefined ? 0 : until - this.#clock.now()
    if (ms > 0) await sleep(this.#clock, ms, gone)
  }
}

function allowanceOf(caller: Caller): Allowance | undefined {
  const perMinute = limitFor(caller, 'requestsPerMinute')
  if (perMinute === 0) return undefined
  const perSecond = Math.max(paced.max, perMinute / 60)
  return { max: perSecond * pacedAtOnce.max, windowMs: secondMs * pacedAtOnce.max, owed }
}
