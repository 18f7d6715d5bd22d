import { companyLimits, refusalLimits } from '../../gateway-limits.ts'
import { type Clock, sleep } from '../../lib/clock.ts'
import { FairQueue, type Member } from '../../lib/fair-queue.ts'
import { KeyedSemaphore, type Leave } from '../../lib/keyed-semaphore.ts'
import { RateMeter } from '../../lib/rate-meter.ts'
import { MiB } from '../../limits.ts'
import { agentRates, allowanceOf, type RateName, windowMsOf } from '../../share-limits.ts'
import type { Caller } from '../callers/caller.ts'
import { limitFor } from './caller-limits.ts'
import { Company } from './company.ts'
import { KeyShares } from './key-shares.ts'
import { type LargeRequest, LargeRequests } from './large-requests.ts'
import type { Bulk } from './large-spacing.ts'
import { isUnlimited, OperatorShares } from './operator-shares.ts'
import { Pace } from './pace.ts'
import { QueuePlace } from './queue-place.ts'
import { partUsedUp, tooManyAtOnce, usedUp } from './refusals.ts'

const { changeCost } = companyLimits
const { promptRefusals, refusalDelay, lateRefusals } = refusalLimits
const minuteMs = 60_000
/** The longest delay of the refusal of a large request, in ms. */
const largeRefusalMs = 1_000
/** Multiples of this number, modulo 1, are spread evenly, however many there are. */
const goldenPart = 0.618
const queueBounds = { few: companyLimits.few.max, atOnce: 2, rememberMs: 250, pauseMs: 30, patienceMs: 25 }

/**
 * What agents, projects and operators use of this gateway: how often they act, and how much of it at a time. The admin key is exempt.
 */
export class Shares {
  readonly #clock: Clock
  readonly #meters = new Map<RateName, RateMeter>()
  readonly #refusals = new RateMeter()
  /** How many refusals of each agent are delayed now. */
  readonly #late = new Map<string, number>()
  #delays = 0
  readonly #company: Company
  readonly #agents = new KeyedSemaphore()
  readonly #projects = new KeyedSemaphore()
  readonly #operators: OperatorShares
  readonly #keys: KeyShares
  readonly #queue: FairQueue
  readonly #pace: Pace
  readonly large: LargeRequests

  constructor(clock: Clock, pace = new Pace()) {
    this.#clock = clock
    this.#pace = pace
    this.#queue = new FairQueue(clock, queueBounds)
    this.#operators = new OperatorShares(clock)
    this.#keys = new KeyShares(clock)
    this.#company = new Company(clock)
    this.large = new LargeRequests(clock, this.#company)
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

  /** Lets a request begin that `takeRevocation` has let in: it waits for no other request of its agent or its project. */
  enterRevocation(caller: Caller, request?: Bulk): Leave | Promise<Leave> {
    const inCompany = this.#company.note(shareOf(caller))
    return this.#enterQueue({ caller, request, inCompany, share: caller.keyId })
  }

  /**
   * Notes how many bytes a request of a caller and its answer had.
   * @param soFar its bytes up to now, where they are noted one part after the other
   */
  noteBytes(caller: Caller, bytes: number, request?: Bulk, soFar = bytes): void {
    if (caller.kind === 'operator') {
      if (!isUnlimited(caller)) this.#operators.noteBytes(caller, bytes)
      return
    }
    if (request) this.large.note(caller, request, soFar)
    const max = limitFor(caller, 'megabytesPerMinute')
    if (max === 0) return
    const allowance = allowanceOf('megabytesPerMinute', max)
    this.#meters.get('megabytesPerMinute')!.charge(caller.id, bytes / MiB, allowance, this.#clock.now())
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

  /** From 0.5 to 1. Requests that were refused together are answered one after the other, because each client tries again at once. */
  #nextDelay(): number {
    this.#delays = (this.#delays + goldenPart) % 1
    return 0.5 + this.#delays / 2
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

  /**
   * Lets a request begin when its operator, or its agent and its project, have room for it; callers with few requests go first. Returns
   * the function that ends it, or a promise of it where the request has to wait. Errors: `rate-limited` where too many wait.
   */
  enter(caller: Caller, request?: Bulk): Leave | Promise<Leave> {
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

  /** Counts a change against the pace of its agent while others are active: it costs as much as several reads. */
  paceChange(caller: Caller): void {
    if (caller.kind === 'agent' && this.#company.isAround(caller.id))
      this.#pace.countFurther(caller, changeCost.max - 1)
  }

  /** Whether a caller other than this agent is active. */
  isCompanyAround(agentId: string): boolean {
    return this.#company.isAround(agentId)
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

  /** Waits in the queue of the agent, for the pace of its requests, and until a large request may begin. */
  async #enterLate(
    entering: Entering,
    ofAgent: Leave | Promise<Leave>,
    large: LargeRequest | undefined,
  ): Promise<Leave> {
    const leave = await ofAgent
    await this.#pace.wait(entering.beginAt, entering.request?.gone())
    if (large && !(await this.large.wait(large))) {
      // Many are refused one after the other rather than in one iteration of the event loop.
      await sleep(this.#clock, largeRefusalMs * this.#nextDelay(), large.request.gone())
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

/** Who is counted: all operators have the same id, but each key is a separate caller. */
function shareOf({ kind, id, keyId }: Caller): string {
  return kind === 'operator' ? keyId : id
}
