import { companyLimits } from '../../gateway-limits.ts'
import { type Clock, steadyClock } from '../../lib/clock.ts'
import { RateMeter } from '../../lib/rate-meter.ts'

const { wakesPaced, pacedAtOnce, wakeRuns } = companyLimits
const secondMs = 1_000
const allowance = {
  max: wakesPaced.max * pacedAtOnce.max,
  windowMs: secondMs * pacedAtOnce.max,
  // Each run of an agent may have several that wait.
  owed: 1_000,
}

/**
 * Spaces what is sent for an agent whose many subscriptions are woken together, while others use the gateway: one event for
 * it costs as much as hundreds for another agent. An agent that is alone, or has few runs at a time, is never held back.
 */
export class SendPace {
  readonly clock: Clock
  readonly #isCompanyAround: (agentId: string) => boolean
  readonly #meter = new RateMeter()

  /** @param isCompanyAround whether others than this agent use the gateway now */
  constructor(isCompanyAround: (agentId: string) => boolean, clock: Clock = steadyClock) {
    this.#isCompanyAround = isCompanyAround
    this.clock = clock
  }

  /**
   * Counts one wake that is to be sent for an agent. Returns how many ms it has to wait; undefined: the agent has no pace now, and nothing was
   * counted.
   * @param runs how many runs the agent has now
   */
  count(agentId: string, runs: number): number | undefined {
    if (runs <= wakeRuns.max || !this.#isCompanyAround(agentId)) return undefined
    const now = this.clock.now()
    const waitMs = this.#meter.waitMs(agentId, allowance, now)
    this.#meter.charge(agentId, 1, allowance, now)
    return waitMs
  }
}
