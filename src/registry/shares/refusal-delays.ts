import { refusalLimits } from '../../gateway-limits.ts'
import { type Clock, sleep } from '../../lib/clock.ts'
import { RateMeter } from '../../lib/rate-meter.ts'
import type { Caller } from '../callers/caller.ts'
import { isUnlimited } from './operator-shares.ts'
import { shareOf } from './share-of.ts'

const { promptRefusals, refusalDelay, lateRefusals } = refusalLimits
const minuteMs = 60_000
/** The longest delay of the refusal of a large request, in ms. */
const largeRefusalMs = 1_000
/** Multiples of this number, modulo 1, are spread evenly, however many there are. */
const goldenPart = 0.618

/** When refusals are sent: those of a caller that gets many, and those of large requests, are spread over time. */
export class RefusalDelays {
  readonly #clock: Clock
  readonly #refusals = new RateMeter()
  /** How many refusals of each agent are delayed now. */
  readonly #late = new Map<string, number>()
  #delays = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Resolves when a refusal may be sent: at once for the first refusals of a caller, with a delay for further ones. False: too many
   * of its refusals are delayed already, so the connection is closed instead.
   */
  async mayRefuse(caller: Caller, signal: AbortSignal): Promise<boolean> {
    if (isUnlimited(caller)) return true
    const id = shareOf(caller)
    if (this.#refusals.spend(id, promptRefusals.max, minuteMs, this.#clock.now()) === 0) return true
    const late = this.#late.get(id) ?? 0
    if (late >= lateRefusals.max) return false
    this.#late.set(id, late + 1)
    await sleep(this.#clock, refusalDelay.max * 1_000 * this.#nextDelay(), signal)
    const left = this.#late.get(id)! - 1
    if (left === 0) this.#late.delete(id)
    else this.#late.set(id, left)
    return true
  }

  /** Delays the refusal of a large request: many are refused one after the other rather than in one iteration of the event loop. */
  async ofLarge(signal: AbortSignal): Promise<void> {
    await sleep(this.#clock, largeRefusalMs * this.#nextDelay(), signal)
  }

  /** From 0.5 to 1. Requests that were refused together are answered one after the other, because each client tries again at once. */
  #nextDelay(): number {
    this.#delays = (this.#delays + goldenPart) % 1
    return 0.5 + this.#delays / 2
  }
}
