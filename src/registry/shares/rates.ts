import type { Clock } from '../../lib/clock.ts'
import { MiB } from '../../limits.ts'
import { agentRates, projectRateOf } from '../../share-limits.ts'
import type { Caller } from '../callers/caller.ts'
import { limitFor } from './caller-limits.ts'
import { KeyShares } from './key-shares.ts'
import { isUnlimited, type OperatorShares } from './operator-shares.ts'
import { Rate } from './rate.ts'
import { partUsedUp } from './refusals.ts'

type AgentRate = keyof typeof agentRates

/** The rates that one kind of act counts against: those of the agent and of its project. */
interface Counted {
  readonly own: Rate
  readonly ofProject: Rate | undefined
}

/**
 * How often agents, projects and operators act, and how many bytes they move. An act of an agent counts against its own rate and against
 * its project's: against both, or, where one of them refuses it, against none.
 */
export class Rates {
  readonly #clock: Clock
  readonly #counted: Readonly<Record<AgentRate, Counted>>
  readonly #operators: OperatorShares
  readonly #keys: KeyShares

  constructor(clock: Clock, operators: OperatorShares) {
    this.#clock = clock
    this.#operators = operators
    this.#keys = new KeyShares(clock)
    const names = Object.keys(agentRates) as AgentRate[]
    this.#counted = Object.fromEntries(names.map((name) => [name, countedBy(name)])) as Record<AgentRate, Counted>
  }

  /** Counts a request against what its operator, or its agent and its project, may ask. Errors: `rate-limited`. */
  spendRequest(caller: Caller): void {
    if (caller.kind === 'operator') {
      if (!isUnlimited(caller)) this.#operators.spendRequest(caller)
      return
    }
    const { requestsPerMinute: requests, megabytesPerMinute: megabytes } = this.#counted
    const now = this.#clock.now()
    const { id, projectId } = caller
    const perMinute = limitFor(caller, 'requestsPerMinute')
    if (perMinute !== 0) this.#requirePartOfKey(caller, perMinute)
    const own = requests.own.require(caller, id, now)
    const ofProject = requests.ofProject!.require(caller, projectId, now)
    megabytes.own.requireAny(caller, id, now)
    megabytes.ofProject!.requireAny(caller, projectId, now)
    requests.own.take(id, own)
    requests.ofProject!.take(projectId, ofProject)
    if (perMinute !== 0) this.#keys.count(caller, perMinute)
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
    const { own, ofProject } = this.#counted.requestsPerMinute
    const now = this.#clock.now()
    const further = own.requireFurther(caller, caller.id, now, count)
    const furtherOfProject = ofProject!.requireFurther(caller, caller.projectId, now, count)
    own.take(caller.id, further)
    ofProject!.take(caller.projectId, furtherOfProject)
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
    const { own, ofProject } = this.#counted.megabytesPerMinute
    const now = this.#clock.now()
    own.charge(caller, caller.id, now, bytes / MiB)
    ofProject!.charge(caller, caller.projectId, now, bytes / MiB)
  }

  /**
   * Takes nothing. Errors: `rate-limited` where nothing of a rate is left.
   * @param of who is counted: the agent, unless another id is given; then its project's rate neither refuses the act nor counts it
   */
  requireLeft(caller: Caller, name: AgentRate, of: string = caller.id): void {
    if (caller.kind !== 'agent') return
    const { own, ofProject } = this.#counted[name]
    const now = this.#clock.now()
    // A whole act is taken at a time.
    own.require(caller, of, now)
    if (of === caller.id) ofProject?.require(caller, caller.projectId, now)
  }

  /** Counts `count` acts that were done, also where nothing of their rate is left. `of`: as for `requireLeft`. */
  charge(caller: Caller, name: AgentRate, of: string = caller.id, count = 1): void {
    if (caller.kind !== 'agent') return
    const { own, ofProject } = this.#counted[name]
    const now = this.#clock.now()
    own.charge(caller, of, now, count)
    if (of === caller.id) ofProject?.charge(caller, caller.projectId, now, count)
  }

  /** Counts `count` acts against their rates, all or none; more than a rate has count as all of it. Errors: `rate-limited`. */
  spend(caller: Caller, name: AgentRate, count = 1): void {
    if (caller.kind !== 'agent') return
    const { own, ofProject } = this.#counted[name]
    const now = this.#clock.now()
    const { id, projectId } = caller
    const taken = own.require(caller, id, now, count)
    const takenOfProject = ofProject?.require(caller, projectId, now, count) ?? 0
    own.take(id, taken)
    ofProject?.take(projectId, takenOfProject)
  }

  #requirePartOfKey(caller: Caller, perMinute: number): void {
    const waitMs = this.#keys.waitMs(caller, perMinute)
    if (waitMs > 0) throw partUsedUp(caller, perMinute, waitMs)
  }
}

function countedBy(name: AgentRate): Counted {
  const project = projectRateOf[name]
  return { own: new Rate(name), ofProject: project && new Rate(project) }
}
