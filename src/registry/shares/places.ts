import { companyLimits } from '../../gateway-limits.ts'
import type { Clock } from '../../lib/clock.ts'
import { FairQueue, type Member } from '../../lib/fair-queue.ts'
import { KeyedSemaphore, type Leave } from '../../lib/keyed-semaphore.ts'
import { noteActive } from '../../lib/pauses.ts'
import type { Caller } from '../callers/caller.ts'
import { limitFor } from './caller-limits.ts'
import { Company } from './company.ts'
import { type LargeRequest, LargeRequests } from './large-requests.ts'
import type { Bulk } from './large-spacing.ts'
import { isUnlimited, type OperatorShares } from './operator-shares.ts'
import type { Pace } from './pace.ts'
import { QueuePlace } from './queue-place.ts'
import type { RefusalDelays } from './refusal-delays.ts'
import { tooManyAtOnce } from './refusals.ts'
import { shareOf } from './share-of.ts'

const { changeCost, few } = companyLimits
const queueBounds = { few: few.max, atOnce: 2, rememberMs: 250, pauseMs: 30, patienceMs: 25 }

interface PlacesOptions {
  readonly operators: OperatorShares
  readonly pace: Pace
  readonly delays: RefusalDelays
}

/** How many requests of agents, projects and operators are processed at a time, and in which order the others wait. */
export class Places {
  readonly #company: Company
  readonly #agents = new KeyedSemaphore()
  readonly #projects = new KeyedSemaphore()
  readonly #operators: OperatorShares
  readonly #queue: FairQueue
  readonly #pace: Pace
  readonly #delays: RefusalDelays
  readonly large: LargeRequests

  constructor(clock: Clock, { operators, pace, delays }: PlacesOptions) {
    this.#operators = operators
    this.#pace = pace
    this.#delays = delays
    this.#queue = new FairQueue(clock, queueBounds)
    this.#company = new Company(clock)
    this.large = new LargeRequests(clock, this.#company)
  }

  /**
   * Lets a request begin when its operator, or its agent and its project, have room for it; callers with few requests go first. Returns
   * the function that ends it, or a promise of it where the request has to wait. Errors: `rate-limited` where too many wait.
   */
  enter(caller: Caller, request?: Bulk): Leave | Promise<Leave> {
    noteActive(caller.id)
    const inCompany = this.#company.note(shareOf(caller))
    // The admin key waits in no line. Others let it go first.
    if (isUnlimited(caller)) return this.#enterQueue({ caller, request, inCompany })
    if (caller.kind === 'operator') {
      const place = this.#operators.enter(caller)
      return typeof place === 'function'
        ? this.#enterQueue({ caller, request, inCompany }, place)
        : place.then((leave) => this.#enterQueue({ caller, request, inCompany }, leave))
    }
    const waiting = limitFor(caller, 'requestsInLine')
    const inside = limitFor(caller, inCompany ? 'requestsAtOnceInCompany' : 'requestsAtOnce')
    const ofAgent = this.#agents.enter(caller.id, { inside, waiting })
    if (ofAgent === undefined) throw tooManyAtOnce(caller, limitFor(caller, 'requestsAtOnce'), waiting)
    const large = inCompany && request ? this.large.expect(caller, request) : undefined
    const beginAt = inCompany ? this.#pace.count(caller) : undefined
    const entering = { caller, request, inCompany, beginAt }
    if (typeof ofAgent === 'function' && beginAt === undefined && (!large || this.large.mayBegin(large))) {
      return this.#enterProject(entering, ofAgent)
    }
    return this.#enterLate(entering, ofAgent, large)
  }

  /** Lets a request begin that `Rates.takeRevocation` has let in: it waits for no other request of its agent or its project. */
  enterRevocation(caller: Caller, request?: Bulk): Leave | Promise<Leave> {
    noteActive(caller.id)
    const inCompany = this.#company.note(shareOf(caller))
    return this.#enterQueue({ caller, request, inCompany, share: caller.keyId })
  }

  /** Counts a change against the pace of its agent while others are active: it costs as much as several reads. */
  paceChange(caller: Caller): void {
    this.paceFurther(caller, changeCost.max - 1)
  }

  /** Adds requests to the pace of an agent while others are active, for one of its requests that costs as much as several. */
  paceFurther(caller: Caller, further: number): void {
    if (caller.kind !== 'agent' || !this.#company.isAround(caller.id)) return
    this.#pace.countFurther(caller, further)
  }

  /** Whether a caller other than this agent is active. */
  isCompanyAround(agentId: string): boolean {
    return this.#company.isAround(agentId)
  }

  /** Waits in the queue of the agent, for the pace of its requests, and until a large request may begin. */
  async #enterLate(
    entering: Entering,
    ofAgent: Leave | Promise<Leave>,
    large: LargeRequest | undefined,
  ): Promise<Leave> {
    const leave = await ofAgent
    await this.#pace.wait(entering.beginAt, entering.request?.gone())
    if (large && !(await this.large.wait(large))) {
      await this.#delays.ofLarge(large.request.gone())
      leave()
      throw this.large.refusal(large)
    }
    return this.#enterProject(entering, leave)
  }

  #enterProject(entering: Entering, leaveAgent: Leave): Leave | Promise<Leave> {
    const { caller } = entering
    // The line of a project is as long as those of its agents.
    const room = { inside: limitFor(caller, 'projectRequestsAtOnce'), waiting: 0 }
    const ofProject = this.#projects.enter(caller.projectId, room)!
    return typeof ofProject === 'function'
      ? this.#enterQueue(entering, ofProject, leaveAgent)
      : ofProject.then((leaveProject) => this.#enterQueue(entering, leaveProject, leaveAgent))
  }

  #enterQueue(entering: Entering, ...leaves: Leave[]): Leave | Promise<Leave> {
    const entered = this.#inQueue(entering)
    return entered instanceof Promise
      ? entered.then((member) => this.#leaving(entering, member, leaves))
      : this.#leaving(entering, entered, leaves)
  }

  #inQueue({ caller, inCompany, share = shareOf(caller) }: Omit<Entering, 'request'>): Member | Promise<Member> {
    return isUnlimited(caller) ? this.#queue.enterFirst(share) : this.#queue.enter(share, inCompany)
  }

  #leaving({ caller, request, share }: Entering, member: Member, leaves: readonly Leave[]): Leave {
    const inCompany = (): boolean => this.#company.isAround(shareOf(caller))
    const place = new QueuePlace(this.#queue, member, () => this.#inQueue({ caller, inCompany: inCompany(), share }))
    if (request) request.place = place
    return () => {
      if (!place.end()) return
      for (const leave of leaves) leave()
    }
  }
}

/** A request on its way in. */
interface Entering {
  readonly caller: Caller
  readonly request: Bulk | undefined
  readonly inCompany: boolean
  /** When it may begin, for `Pace`; undefined: now. */
  readonly beginAt?: number | undefined
  /** Who is counted in the queue; undefined: the caller. */
  readonly share?: string | undefined
}
