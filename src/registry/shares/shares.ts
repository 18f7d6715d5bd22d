import type { Clock } from '../../lib/clock.ts'
import type { Leave } from '../../lib/keyed-semaphore.ts'
import type { agentRates } from '../../share-limits.ts'
import type { Caller } from '../callers/caller.ts'
import type { LargeRequests } from './large-requests.ts'
import type { Bulk } from './large-spacing.ts'
import { OperatorShares } from './operator-shares.ts'
import { Pace } from './pace.ts'
import { Places } from './places.ts'
import { Rates } from './rates.ts'
import { RefusalDelays } from './refusal-delays.ts'

type AgentRate = keyof typeof agentRates

/**
 * What agents, projects and operators use of this gateway: how often they act (`Rates`), how much of it at a time (`Places`), and when
 * they are refused (`RefusalDelays`), which say what each of these functions does. The admin key is exempt.
 */
export class Shares {
  readonly #rates: Rates
  readonly #places: Places
  readonly #delays: RefusalDelays
  readonly large: LargeRequests

  constructor(clock: Clock, pace = new Pace()) {
    const operators = new OperatorShares(clock)
    this.#delays = new RefusalDelays(clock)
    this.#rates = new Rates(clock, operators)
    this.#places = new Places(clock, { operators, pace, delays: this.#delays })
    this.large = this.#places.large
  }

  spendRequest(caller: Caller): void {
    this.#rates.spendRequest(caller)
  }

  spendFurther(caller: Caller, count: number): void {
    this.#rates.spendFurther(caller, count)
  }

  spend(caller: Caller, name: AgentRate, count?: number): void {
    this.#rates.spend(caller, name, count)
  }

  charge(caller: Caller, name: AgentRate, of?: string, count?: number): void {
    this.#rates.charge(caller, name, of, count)
  }

  requireLeft(caller: Caller, name: AgentRate, of?: string): void {
    this.#rates.requireLeft(caller, name, of)
  }

  takeRevocation(caller: Caller): boolean {
    return this.#rates.takeRevocation(caller)
  }

  /**
   * Notes how many bytes a request of a caller and its answer had.
   * @param soFar its bytes up to now, where they are noted one part after the other
   */
  noteBytes(caller: Caller, bytes: number, request?: Bulk, soFar = bytes): void {
    if (request && caller.kind === 'agent') this.large.note(caller, request, soFar)
    this.#rates.noteBytes(caller, bytes)
  }

  enter(caller: Caller, request?: Bulk): Leave | Promise<Leave> {
    return this.#places.enter(caller, request)
  }

  enterRevocation(caller: Caller, request?: Bulk): Leave | Promise<Leave> {
    return this.#places.enterRevocation(caller, request)
  }

  paceChange(caller: Caller): void {
    this.#places.paceChange(caller)
  }

  paceFurther(caller: Caller, further: number): void {
    this.#places.paceFurther(caller, further)
  }

  isCompanyAround(agentId: string): boolean {
    return this.#places.isCompanyAround(agentId)
  }

  mayRefuse(caller: Caller, signal: AbortSignal): Promise<boolean> {
    return this.#delays.mayRefuse(caller, signal)
  }
}
