import { isCalm, justStarted, watch } from '../../src/lib/watchfulness.ts'
import { isStale } from '../../src/recovery/decide.ts'
import { step } from '../../src/recovery/step.ts'
import type { Recovery } from '../../src/registry/recovery/recovery.ts'
import type { Session } from '../../src/registry/sessions/session.ts'
import type { Facts } from '../../src/turns/facts.ts'
import { account, factsOf, minute, noon, sessionOf } from './facts.ts'

const lookMs = 30_000

const sessionTimeoutMs = 5 * minute

/** The pure part of recovery. A mutant has other ones. */
export interface Engine {
  readonly isStale: typeof isStale
  readonly step: typeof step
}

/** One agent, its harness and its bridge, and the checker that looks at them: everything but the store. */
export class Simulation {
  readonly #engine: Engine

  constructor(engine: Engine = { isStale, step }) {
    this.#engine = engine
  }

  now = noon
  /** Runs unlike `now` while the machine sleeps. */
  steady = 0
  session: Session | null = null
  /** The sessions that have ended, the newest first. */
  ended: readonly Session[] = []
  wokenAt: number | null = null
  /** The process has ended, and nobody has said so. */
  isKilled = false
  reason: Facts['reason'] = null
  route: Facts['route'] = factsOf().route
  recovery: Recovery = factsOf().recovery
  gate: Facts['gate'] = factsOf().gate
  /** The acts of the checker: `nudge`, `restart`, `pulse`, `trip`, `deferred`, `cleared`, `abandoned`. */
  readonly did: string[] = []
  /** Restarts that were ordered and have neither ended nor been given up. */
  inFlight = 0
  inFlightMax = 0
  #rounds = 0
  #seen = justStarted
  #sessions = 0

  /** Looks every half a minute, for as long. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= lookMs) {
      this.now += lookMs
      this.steady += lookMs
      this.#seeSession()
      this.look()
    }
  }

  get former(): Session | null {
    return this.ended[0] ?? null
  }

  /** The machine sleeps: the wall clock goes on, the other one does not. */
  sleep(ms: number): void {
    this.now += ms
  }

  look(): void {
    this.#seen = watch(this.#seen, { wall: this.now, steady: this.steady }, lookMs)
    if (this.recovery.bridge)
      this.recovery = { ...this.recovery, bridgeAt: this.#bridgeIsUp ? this.now : this.recovery.bridgeAt }
    const { now, session, reason, route, recovery, gate, wokenAt } = this
    const [former = null, ...earlier] = this.ended
    const trouble = isCalm(this.#seen) ? null : this.#seen.hasGap ? 'machine_slept' : 'gateway_just_started'
    const seen: Omit<Facts, 'staleRounds'> = {
      now,
      trouble,
      gate,
      reason,
      session,
      former,
      earlier,
      route,
      recovery,
      wokenAt,
    }
    const facts: Facts = { ...seen, staleRounds: 0 }
    this.#rounds = this.#engine.isStale(facts) ? this.#rounds + 1 : 0
    const done = this.#engine.step({ ...facts, staleRounds: this.#rounds })
    if (done.ended) {
      this.did.push(done.ended.how)
      this.inFlight--
    }
    if (done.isDeferred) this.did.push('deferred')
    const { action } = done.decision
    if (action === 'trip') this.gate = { ...this.gate, nudges: 'tripped', restarts: 'tripped' }
    // A nudge is a wake, and arrives as one.
    if (action === 'nudge') this.wokenAt = now
    if (action === 'nudge' || action === 'restart') this.inFlightMax = Math.max(this.inFlightMax, ++this.inFlight)
    if (action !== 'nothing' && action !== 'wait' && action !== 'park') this.did.push(action)
    this.recovery = done.recovery
  }

  mail(unread = 1): void {
    const key = `message_${this.now}`
    this.reason = { key, unread, openTasks: 0, oldestAt: this.reason?.oldestAt ?? this.now, senderIds: ['agent_lola'] }
    if (this.route && this.session) this.wokenAt = this.now
  }

  read(): void {
    this.reason = null
    this.act()
  }

  /** A new process begins a session. */
  start(): void {
    if (this.session) this.end('preempted')
    const id = `session_${++this.#sessions}`
    const { now } = this
    this.isKilled = false
    this.session = sessionOf({ id, createdAt: now, processStartedAt: now, actedAt: 0, lastSeenAt: now })
    this.account({ seen: true, process: { pid: this.#sessions, startedAt: new Date(now).toISOString() } })
  }

  act(): void {
    if (this.session) this.session = { ...this.session, actedAt: this.now, lastSeenAt: this.now }
  }

  /** The harness is killed with all that could say good-bye for it. Its bridge goes on. */
  kill(): void {
    this.isKilled = true
    this.account({ seen: false, process: undefined })
  }

  /** A harness that runs once: it begins, does what waits, and ends, all between two looks. */
  runOnce(): void {
    this.start()
    this.now += 1_000
    this.read()
    this.now += 1_000
    this.end('ended')
  }

  report(state: Session['state'], activeTurnId: string | null = null): void {
    const isInTurn = [state, this.session!.state].some((one) => one === 'active' || one === 'waitingOnApproval')
    const actedAt = isInTurn ? this.now : this.session!.actedAt
    this.session = { ...this.session!, state, source: 'bridge-daemon', presenceAt: this.now, actedAt, activeTurnId }
  }

  /** The same state, for as long: a harness with hooks repeats it every minute. */
  stay(state: Session['state'], ms: number): void {
    for (let left = ms; left > 0; left -= minute) {
      this.report(state)
      this.pass(minute)
    }
  }

  end(reason: NonNullable<Session['endReason']>): void {
    if (!this.session) return
    this.ended = [{ ...this.session, endedAt: this.now, endReason: reason }, ...this.ended].slice(0, 20)
    this.session = null
    this.account({ seen: false, process: undefined })
  }

  /** The bridge of its machine, with a recipe that is proven. */
  bridge(): void {
    this.recovery = { ...this.recovery, bridge: account(), bridgeAt: this.now }
  }

  bridgeAway(): void {
    this.#bridgeIsUp = false
  }

  park(ms: number, isOpen = false): void {
    const parked = { since: this.now, until: this.now + ms, isOpen, reason: 'usage-limit', detail: null } as const
    this.recovery = { ...this.recovery, parked }
  }

  /** A gateway starts: what the checker had in memory is gone, what it has written is not. */
  gatewayRestarts(): void {
    this.#rounds = 0
    this.#seen = justStarted
  }

  #bridgeIsUp = true

  #seeSession(): void {
    if (!this.session) return
    if (!this.isKilled) this.session = { ...this.session, lastSeenAt: this.now }
    else if (this.now - this.session.lastSeenAt > sessionTimeoutMs) this.end('timeout')
  }

  private account(fields: Parameters<typeof account>[0]): void {
    if (!this.recovery.bridge) return
    this.recovery = { ...this.recovery, bridge: account(fields), bridgeAt: this.now }
  }
}
