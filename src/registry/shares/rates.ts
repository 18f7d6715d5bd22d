import type { Clock } from '../../lib/clock.ts'
import { RateMeter } from '../../lib/rate-meter.ts'
import { MiB } from '../../limits.ts'
import { agentRates, allowanceOf, type RateName, windowMsOf } from '../../share-limits.ts'
import type { Caller } from '../callers/caller.ts'
import { limitFor } from './caller-limits.ts'
import { KeyShares } from './key-shares.ts'
import { isUnlimited, type OperatorShares } from './operator-shares.ts'
import { partUsedUp, usedUp } from './refusals.ts'

/** How often agents, projects and operators act, and how many bytes they move. */
export class Rates {
  readonly #clock: Clock
  readonly #meters = new Map<RateName, RateMeter>()
  readonly #operators: OperatorShares
  readonly #keys: KeyShares

  constructor(clock: Clock, operators: OperatorShares) {
    this.#clock = clock
    this.#operators = operators
    this.#keys = new KeyShares(clock)
    for (const name of [...(Object.keys(agentRates) as RateName[]), 'projectRequestsPerMinute' as const]) {
      this.#meters.set(name, new RateMeter({ windowMs: windowMsOf(name) }))
    }
  }

  /** Counts a request against what its operator, or its agent and its project, may ask. Errors: `rate-limited`. */
  spendRequest(caller: Caller): void {
    if (caller.kind === 'operator') {
      if (!isUnlimited(caller)) this.#operators.spendRequest(caller)
      return
    }
    this.#spendOfAgent(caller)
    this.#spend(caller, 'projectRequestsPerMinute', caller.projectId)
    this.#requireBytes(caller)
  }

  /**
   * Counts a request, which was counted once before, as `count` more: it costs the gateway as much. Where a whole allowance is less, it
   * counts as all of it, so that none is refused forever. Errors: `rate-limited`, with the time until the request has room as a whole.
   */
  spendFurther(caller: Caller, count: number): void {
    if (caller.kind === 'operator') {
      if (!isUnlimited(caller)) this.#operators.spendFurther(caller, count)
      return
    }
    this.#spendFurther(caller, 'requestsPerMinute', caller.id, count)
    this.#spendFurther(caller, 'projectRequestsPerMinute', caller.projectId, count)
  }

  /**
   * Takes one of the requests that each key of an agent has for revoking keys, tokens and permissions, and for listing them. They are apart
   * from what the agent may use: a thief with another key cannot use them up. False: none is left, or the caller is no agent.
   */
  takeRevocation(caller: Caller): boolean {
    return caller.kind === 'agent' && this.#keys.takeRevocation(caller)
  }

  /** Counts the bytes of a request of a caller and its answer. */
  noteBytes(caller: Caller, bytes: number): void {
    if (caller.kind === 'operator') {
      if (!isUnlimited(caller)) this.#operators.noteBytes(caller, bytes)
      return
    }
    const max = limitFor(caller, 'megabytesPerMinute')
    if (max === 0) return
    const allowance = allowanceOf('megabytesPerMinute', max)
    this.#meters.get('megabytesPerMinute')!.charge(caller.id, bytes / MiB, allowance, this.#clock.now())
  }

  /**
   * Takes nothing. Errors: `rate-limited` where nothing of a rate is left.
   * @param of who is counted: the agent, unless another id is given
   */
  requireLeft(caller: Caller, name: keyof typeof agentRates, of: string = caller.id): void {
    const max = limitFor(caller, name)
    if (caller.kind !== 'agent' || max === 0) return
    // A whole act is taken at a time.
    const { max: atOnce, windowMs } = allowanceOf(name, max)
    const waitMs = this.#meters.get(name)!.missingMs(of, { max: atOnce, windowMs }, this.#clock.now())
    if (waitMs > 0) throw usedUp(caller, name, max, waitMs)
  }

  /** Counts `count` acts that were done, also where nothing of their rate is left. */
  charge(caller: Caller, name: keyof typeof agentRates, of: string = caller.id, count = 1): void {
    const max = limitFor(caller, name)
    if (caller.kind !== 'agent' || max === 0) return
    this.#meters.get(name)!.charge(of, count, allowanceOf(name, max), this.#clock.now())
  }

  /** Counts `count` acts against their rate, all or none; more than the rate has count as all of it. Errors: `rate-limited`. */
  spend(caller: Caller, name: keyof typeof agentRates, count = 1): void {
    if (caller.kind === 'agent') this.#spend(caller, name, caller.id, count)
  }

  #spendOfAgent(caller: Caller): void {
    const max = limitFor(caller, 'requestsPerMinute')
    if (max === 0) return
    const waitMs = this.#keys.waitMs(caller, max)
    if (waitMs > 0) throw partUsedUp(caller, max, waitMs)
    this.#spend(caller, 'requestsPerMinute', caller.id)
    this.#keys.count(caller, max)
  }

  #requireBytes(caller: Caller): void {
    const max = limitFor(caller, 'megabytesPerMinute')
    if (max === 0) return
    const allowance = allowanceOf('megabytesPerMinute', max)
    const waitMs = this.#meters.get('megabytesPerMinute')!.waitMs(caller.id, allowance, this.#clock.now())
    if (waitMs > 0) throw usedUp(caller, 'megabytesPerMinute', max, waitMs)
  }

  #spend(caller: Caller, name: RateName, key: string, count = 1): void {
    const max = limitFor(caller, name)
    if (max === 0) return
    const allowance = allowanceOf(name, max)
    const waitMs = this.#meters.get(name)!.spend(key, allowance.max, allowance.windowMs, this.#clock.now(), count)
    if (waitMs === 0) return
    throw usedUp(caller, name, max, waitMs)
  }

  #spendFurther(caller: Caller, name: RateName, key: string, count: number): void {
    const max = limitFor(caller, name)
    if (max === 0) return
    const waitMs = this.#meters.get(name)!.spendFurther(key, allowanceOf(name, max), this.#clock.now(), count)
    if (waitMs > 0) throw usedUp(caller, name, max, waitMs)
  }
}
