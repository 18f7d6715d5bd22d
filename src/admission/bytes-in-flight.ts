import { Problem } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { type Release, Semaphores } from '../lib/semaphores.ts'
import { gatewayLimits } from '../limits.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { counterOf, isUnlimited } from './counter.ts'

/** The longest wait for room, in ms. */
const waitMs = 10_000
const ofAll = { max: gatewayLimits.bytesInFlight.max, queued: 10_000 }
/** Eight of the largest bodies, by default: as many requests as an agent has at a time. */
const ofCaller = { max: ofAll.max / 16, queued: 256 }

/** Bounds the bytes of bodies that are in memory at a time, of each caller and of all together. */
export class BytesInFlight {
  readonly #lines: Semaphores
  readonly #bodyMax: number

  constructor(clock: Clock, bodyMax: number) {
    this.#lines = new Semaphores({ clock, waitMs })
    this.#bodyMax = bodyMax
  }

  /** Call the returned function with the size of a body that has arrived, and without it when its request is over. Errors: `rate-limited`. */
  async hold(caller: Caller, bytes = this.#bodyMax): Promise<Release> {
    if (isUnlimited(caller)) return () => {}
    const leaveOwn = await this.#lines.enter(counterOf(caller), ofCaller, bytes)
    if (!leaveOwn) throw tooManyBytes(caller.identity, ofCaller.max)
    const leaveAll = await this.#lines.enter('all', ofAll, bytes)
    if (!leaveAll) {
      leaveOwn()
      throw tooManyBytes('The gateway', ofAll.max)
    }
    return (kept) => {
      leaveOwn(kept)
      leaveAll(kept)
    }
  }
}

function tooManyBytes(who: string, max: number): Problem {
  return new Problem('rate-limited', {
    detail: `${who} has ${max} bytes of bodies in requests that are not answered (bytesInFlight). Wait for answers before you send more.`,
    extra: { limit: max, limitName: 'bytesInFlight', retryAfterSeconds: 1 },
  })
}
