import type { Clock } from '../../lib/clock.ts'
import { type Allowance, RateMeter } from '../../lib/rate-meter.ts'
import { allowanceOf, oneKeyLimits } from '../../share-limits.ts'
import type { Caller } from '../callers/caller.ts'
import { Company } from './company.ts'

/** A key is in use for this long after its last request, in ms. */
const inUseMs = 60_000
/** How many agents are remembered with their last keys. */
const agentsMax = 50_000
const minuteMs = 60_000

/**
 * What one key may use of its agent's share, so that a stolen key leaves something to the others: a part of the requests while another
 * key is in use, and a few requests of each key that revoke, whatever the agent has used up.
 */
export class KeyShares {
  readonly #clock: Clock
  readonly #requests = new RateMeter()
  readonly #revocations = new RateMeter()
  readonly #inUse = new Map<string, Company>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes a request of an agent. Returns how many ms its key has to wait for its part of `perMinute`; 0: it need not. */
  waitMs({ id, keyId }: Caller, perMinute: number): number {
    const isAlone = !this.#keysOf(id).note(keyId)
    return isAlone ? 0 : this.#requests.missingMs(keyId, partOf(perMinute), this.#clock.now())
  }

  /** Counts a request that its agent's rate has let in. */
  count({ keyId }: Caller, perMinute: number): void {
    this.#requests.charge(keyId, 1, partOf(perMinute), this.#clock.now())
  }

  /** Takes one of the requests that a key may make whatever its agent has used up. False: none is left. */
  takeRevocation({ keyId }: Caller): boolean {
    return this.#revocations.spend(keyId, oneKeyLimits.revocationsPerMinute.max, minuteMs, this.#clock.now()) === 0
  }

  #keysOf(agentId: string): Company {
    const known = this.#inUse.get(agentId)
    if (known) return known
    if (this.#inUse.size >= agentsMax) this.#inUse.delete(this.#inUse.keys().next().value!)
    const keys = new Company(this.#clock, inUseMs)
    this.#inUse.set(agentId, keys)
    return keys
  }
}

function partOf(perMinute: number): Allowance {
  const { max, windowMs } = allowanceOf('requestsPerMinute', perMinute)
  return { max: Math.max(1, (max * oneKeyLimits.requestsOfKey.max) / 100), windowMs, owed: 1 }
}
