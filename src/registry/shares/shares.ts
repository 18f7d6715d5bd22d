import { companyLimits, refusalLimits } from '../../gateway-limits.ts'
import { type Clock, sleep } from '../../lib/clock.ts'
import { FairQueue, type Member } from '../../lib/fair-queue.ts'
import { KeyedSemaphore, type Leave } from '../../lib/keyed-semaphore.ts'
import { type Allowance, RateMeter } from '../../lib/rate-meter.ts'
import { MiB } from '../../limits.ts'
import { agentRates, allowanceOf, type RateName } from '../../share-limits.ts'
import type { Caller } from '../callers/caller.ts'
import { limitFor } from './caller-limits.ts'
import { type Bulk, LargeSpacing } from './large-spacing.ts'
import { tooManyAtOnce, usedUp } from './refusals.ts'

const { promptRefusals, refusalDelay, lateRefusals } = refusalLimits
const minuteMs = 60_000
/** A caller is active for this long after its last request. */
const companyMs = 1_000
/** The longest delay of the refusal of a large request, in ms. */
const largeRefusalMs = 1_000
/** Multiples of this number, modulo 1, are spread evenly, however many there are. */
const goldenPart = 0.618
type LargeRequest = readonly [agentId: string, request: Bulk, bytes: number, allowance: Allowance]
const queueBounds = { few: companyLimits.few.max, atOnce: 2, rememberMs: 250, pauseMs: 30, patienceMs: 25 }

/** What agents and projects use of this gateway: how often they act, and how much of it at a time. The operator is exempt. */
export class Shares {
  readonly #clock: Clock
  readonly #meters = new Map<RateName, RateMeter>()
  readonly #refusals = new RateMeter()
  /** How many refusals of each agent are delayed now. */
  readonly #late = new Map<string, number>()
  #delays = 0
  /** The last two callers that are not the same. */
  #latest = { id: '', at: Number.NEGATIVE_INFINITY }
  #before = this.#latest
  readonly #agents = new KeyedSemaphore()
  readonly #projects = new KeyedSemaphore()
  readonly #queue: FairQueue
  readonly #spacing: LargeSpacing

  constructor(clock: Clock) {
    this.#clock = clock
    this.#queue = new FairQueue(clock, queueBounds)
    this.#spacing = new LargeSpacing(clock)
    for (const name of [...(Object.keys(agentRates) as RateName[]), 'projectRequestsPerMinute' as const]) {
      this.#meters.set(name, new RateMeter())
    }
  }

  /** Counts a request against what its agent and its project may ask. Errors: `rate-limited`. */
  spendRequest(caller: Caller): void {
    if (caller.kind === 'operator') return
    this.#spend(caller, 'requestsPerMinute', caller.id)
    this.#spend(caller, 'projectRequestsPerMinute', caller.projectId)
    this.#requireBytes(caller)
  }

  /**
   * Lets a part of a request that reads begin. While others send requests, it waits only for another part of the caller that reads the
   * same: the request has begun already. Returns how to end it, also where it begins to wait for something. Errors: `rate-limited`
   * where it is expected to be large and may not begin yet.
   */
  async beginPart(caller: Caller, part: Bulk): Promise<Leave> {
    if (caller.kind === 'operator' || !this.#hasCompany(caller.id)) return () => {}
    const leave = await this.#spacing.enterAlone(caller.id, part)
    const large = this.#largeRequest(caller, part)
    if (!large || this.#spacing.mayBegin(...large)) return leave
    leave()
    const name = 'largeMegabytesPerMinute'
    throw usedUp(caller, name, limitFor(caller, name), this.#spacing.waitMs(caller.id, large[3]))
  }

  /**
   * Lets a request wait that has begun already and was named by its body: if a large answer is expected and other callers send requests,
   * until it may begin. False: its client has disconnected. Errors: `rate-limited`.
   */
  async beginNamed(caller: Caller, request: Bulk): Promise<boolean> {
    if (caller.kind === 'operator' || !this.#hasCompany(caller.id)) return true
    // Its body was counted at the door.
    const large = request.counted > 0 ? undefined : this.#largeRequest(caller, request)
    if (!large || (await this.#spacing.wait(...large))) return true
    if (request.gone().aborted) return false
    const name = 'largeMegabytesPerMinute'
    throw usedUp(caller, name, limitFor(caller, name), this.#spacing.waitMs(caller.id, large[3]))
  }

  /** Notes how many bytes a request of a caller and its answer had. */
  noteBytes(caller: Caller, bytes: number, request?: Bulk): void {
    if (caller.kind === 'operator') return
    if (request) {
      const large = this.#hasCompany(caller.id) ? largeAllowance(caller) : undefined
      this.#spacing.note(caller.id, request, bytes, large)
    }
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
    if (caller.kind === 'operator') return true
    if (this.#refusals.spend(caller.id, promptRefusals.max, minuteMs, this.#clock.now()) === 0) return true
    const late = this.#late.get(caller.id) ?? 0
    if (late >= lateRefusals.max) return false
    this.#late.set(caller.id, late + 1)
    await sleep(this.#clock, refusalDelay.max * 1_000 * this.#nextDelay(), signal)
    const left = this.#late.get(caller.id)! - 1
    if (left === 0) this.#late.delete(caller.id)
    else this.#late.set(caller.id, left)
    return true
  }

  /** From 0.5 to 1. Requests that were refused together are answered one after the other, because each client tries again at once. */
  #nextDelay(): number {
    this.#delays = (this.#delays + goldenPart) % 1
    return 0.5 + this.#delays / 2
  }

  /** Takes nothing. Errors: `rate-limited` where nothing of a rate is left. */
  requireLeft(caller: Caller, name: keyof typeof agentRates): void {
    const max = limitFor(caller, name)
    if (caller.kind !== 'agent' || max === 0) return
    // A whole act is taken at a time.
    const { max: atOnce, windowMs } = allowanceOf(name, max)
    const waitMs = this.#meters.get(name)!.missingMs(caller.id, { max: atOnce, windowMs }, this.#clock.now())
    if (waitMs > 0) throw usedUp(caller, name, max, waitMs)
  }

  /** Counts an act against its rate. Errors: `rate-limited`. */
  spend(caller: Caller, name: keyof typeof agentRates): void {
    if (caller.kind === 'agent') this.#spend(caller, name, caller.id)
  }

  /**
   * Lets a request begin when its agent and its project have room for it; callers with few requests go first. Returns the function that
   * ends it, or a promise of it where the request has to wait. Errors: `rate-limited` where too many wait.
   */
  enter(caller: Caller, request?: Bulk): Leave | Promise<Leave> {
    const inCompany = this.#isInCompany(caller)
    // The operator waits in no line. Others let it go first.
    if (caller.kind === 'operator') return this.#enterQueue(caller, inCompany)
    const waiting = limitFor(caller, 'requestsInLine')
    const inside = limitFor(caller, inCompany ? 'requestsAtOnceInCompany' : 'requestsAtOnce')
    const ofAgent = this.#agents.enter(caller.id, { inside, waiting })
    if (ofAgent === undefined) throw tooManyAtOnce(caller, limitFor(caller, 'requestsAtOnce'), waiting)
    const large = inCompany && request ? this.#largeRequest(caller, request) : undefined
    if (typeof ofAgent === 'function' && (!large || this.#spacing.mayBegin(...large))) {
      return this.#enterProject(caller, inCompany, ofAgent)
    }
    return this.#enterLate(caller, inCompany, ofAgent, large)
  }

  /** A request that is expected to be large, with what it counts against. Undefined: it is not, or nothing limits it. */
  #largeRequest(caller: Caller, request: Bulk): LargeRequest | undefined {
    const bytes = this.#spacing.expected(caller.id, request)
    const allowance = bytes === 0 ? undefined : largeAllowance(caller)
    return allowance && [caller.id, request, bytes, allowance]
  }

  #requireBytes(caller: Caller): void {
    const max = limitFor(caller, 'megabytesPerMinute')
    if (max === 0) return
    const allowance = allowanceOf('megabytesPerMinute', max)
    const waitMs = this.#meters.get('megabytesPerMinute')!.waitMs(caller.id, allowance, this.#clock.now())
    if (waitMs > 0) throw usedUp(caller, 'megabytesPerMinute', max, waitMs)
  }

  /** Whether another caller is active. Notes that this one is. */
  #isInCompany(caller: Caller): boolean {
    const now = this.#clock.now()
    if (this.#latest.id !== caller.id) {
      this.#before = this.#latest
      this.#latest = { id: caller.id, at: now }
    } else this.#latest.at = now
    return now - this.#before.at < companyMs
  }

  /** Whether a caller other than this one is active. */
  #hasCompany(id: string): boolean {
    const other = this.#latest.id === id ? this.#before : this.#latest
    return this.#clock.now() - other.at < companyMs
  }

  /** Waits in the queue of the agent, and until a large request may begin. */
  async #enterLate(
    caller: Caller,
    inCompany: boolean,
    ofAgent: Leave | Promise<Leave>,
    large: LargeRequest | undefined,
  ): Promise<Leave> {
    const leave = await ofAgent
    if (large && !(await this.#spacing.wait(...large))) {
      // Many are refused one after the other rather than in one iteration of the event loop.
      await sleep(this.#clock, largeRefusalMs * this.#nextDelay(), large[1].gone())
      leave()
      const name = 'largeMegabytesPerMinute'
      throw usedUp(caller, name, limitFor(caller, name), this.#spacing.waitMs(caller.id, large[3]))
    }
    return this.#enterProject(caller, inCompany, leave)
  }

  #enterProject(caller: Caller, inCompany: boolean, leaveAgent: Leave): Leave | Promise<Leave> {
    // The line of a project is as long as those of its agents.
    const room = { inside: limitFor(caller, 'projectRequestsAtOnce'), waiting: 0 }
    const ofProject = this.#projects.enter(caller.projectId, room)!
    return typeof ofProject === 'function'
      ? this.#enterQueue(caller, inCompany, ofProject, leaveAgent)
      : ofProject.then((leaveProject) => this.#enterQueue(caller, inCompany, leaveProject, leaveAgent))
  }

  #enterQueue({ kind, id }: Caller, inCompany: boolean, ...leaves: Leave[]): Leave | Promise<Leave> {
    const entered = kind === 'operator' ? this.#queue.enterFirst(id) : this.#queue.enter(id, inCompany)
    return entered instanceof Promise
      ? entered.then((member) => this.#leaving(member, leaves))
      : this.#leaving(entered, leaves)
  }

  #leaving(member: Member, leaves: readonly Leave[]): Leave {
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      this.#queue.leave(member)
      for (const leave of leaves) leave()
    }
  }

  #spend(caller: Caller, name: RateName, key: string): void {
    const max = limitFor(caller, name)
    if (max === 0) return
    const allowance = allowanceOf(name, max)
    const waitMs = this.#meters.get(name)!.spend(key, allowance.max, allowance.windowMs, this.#clock.now())
    if (waitMs === 0) return
    throw usedUp(caller, name, max, waitMs)
  }
}

/** What a large request counts against. Undefined: no limit. */
function largeAllowance(caller: Caller): Allowance | undefined {
  const max = limitFor(caller, 'largeMegabytesPerMinute')
  return max === 0 ? undefined : allowanceOf('largeMegabytesPerMinute', max)
}
