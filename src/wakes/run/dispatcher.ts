import { newUuid } from '../../lib/ids.ts'
import type { LogEvent } from '../../log/event.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { findSubscription } from '../../registry/subscriptions/subscription-store.ts'
import { outboundLimits } from '../../security/outbound-limits.ts'
import type { EventLease } from '../commit/schedule.ts'
import { leaseDue, nextDueAt, pullForward } from '../store/lease-store.ts'
import type { RunContext, RunControl } from './run.ts'
import { runSubscription } from './run-subscription.ts'

/** How many runs there are at the same time, but for those that only wait: in all, and of one agent. */
const runsMax = outboundLimits.runs.max
const runsOfAgentMax = outboundLimits.runsOfAgent.max
/** How many due subscriptions are leased at once. */
const batchMax = 64
/** Batch size when several gateways share the work. */
const sharedBatchMax = 16
/** Notifications are the sign to look; this finds what a lost one missed. */
const sweepMs = 5_000
const outageMs = 1_000
/** The time until the next look where something is due and was not leased. */
const refusedMs = 5
/** Head start that other gateways get on a subscription that this one yielded. */
const headStartMs = 50

interface LiveRun {
  readonly controller: AbortController
  readonly done: Promise<void>
}

/** Leases due subscriptions and runs them, each in log order, all at the same time. */
export class Dispatcher implements AsyncDisposable {
  readonly #context: RunContext
  readonly #runs = new Map<string, LiveRun>()
  #busy = 0
  readonly #busyOfAgent = new Map<string, number>()
  /** The subscriptions that were changed since the last lease was asked for. */
  readonly #interrupted = new Set<string>()
  /** Agents with as many runs as they may have. Nothing is leased for them: their subscriptions wait in the store. */
  readonly #full = new Set<string>()
  readonly #stopping = new AbortController()
  readonly #id: string
  #leases = 0
  #loop: Promise<void> | undefined
  #wake = () => {}
  #isNotified = false
  #isStalled = false
  #cancelHeadStart: (() => void) | undefined
  #waitingUntil = 0
  /** The latest reading of the clock. It starts at infinity: the clock may have been set back while no gateway ran. */
  #clockSeen = Number.POSITIVE_INFINITY

  /** `id` is the gateway's: the owner of each of its leases begins with it. */
  constructor(context: RunContext, id = newUuid()) {
    this.#context = context
    this.#id = id
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  /** Returns an owner to lease an idle subscription of this agent with, while there is room to run it at once. */
  offer(agentId: string): string | undefined {
    const hasRoom = this.isRunning && this.#busy < runsMax && !this.#full.has(agentId)
    return hasRoom ? this.#newOwner() : undefined
  }

  /** Starts the run of a subscription that was leased under an offered owner name. */
  begin({ subscription, owner, event }: EventLease): void {
    this.#start(subscription, owner, event)
  }

  /** Announces that something is due now, or at `dueAt` (ms since the epoch). */
  notifyDue(dueAt = 0): void {
    const waits = this.#waitingUntil > 0
    if (waits && dueAt >= this.#waitingUntil && dueAt > this.#context.clock.now()) return
    this.#isNotified = true
    this.#wake()
  }

  /** Announces that something is due which other gateways may lease first. */
  notifyYielded(): void {
    this.#cancelHeadStart ??= this.#context.clock.after(headStartMs, () => {
      this.#cancelHeadStart = undefined
      this.notifyDue()
    })
  }

  /** Ends the run of a subscription that was changed or removed: what is in flight finishes, and nothing more starts. */
  interrupt(subscriptionId: string): void {
    this.#interrupted.add(subscriptionId)
    this.#runs.get(subscriptionId)?.controller.abort()
  }

  /** True when the loop is alive. */
  get isRunning(): boolean {
    return this.#loop !== undefined && !this.#stopping.signal.aborted
  }

  /** True when it leases what is due: readiness reports it. False while the store refuses. */
  get isLeasing(): boolean {
    return this.isRunning && !this.#isStalled
  }

  get runCount(): number {
    return this.#runs.size
  }

  /** Stops leasing, ends waits, lets requests in flight finish, and requeues every lease. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancelHeadStart?.()
    this.#wake()
    await this.#loop
    for (const run of this.#runs.values()) run.controller.abort()
    await Promise.all([...this.#runs.values()].map((run) => run.done))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#isNotified = false
      const wanted = Math.min(this.#context.hasPeers() ? sharedBatchMax : batchMax, runsMax - this.#busy)
      try {
        await this.#followClock()
        if (wanted <= 0) await this.#wait(sweepMs)
        else await this.#idleAfter(await this.#tryToLease(wanted), wanted)
      } catch (error) {
        this.#isStalled = true
        this.#context.log.error({ err: error }, 'dispatcher.stalled')
        await this.#wait(outageMs)
      }
    }
  }

  #newOwner(): string {
    return `${this.#id}.${++this.#leases}`
  }

  async #followClock(): Promise<void> {
    const now = this.#context.clock.now()
    if (now < this.#clockSeen) await pullForward(this.#context.db)
    this.#clockSeen = now
  }

  async #tryToLease(limit: number): Promise<number> {
    const count = await this.#lease(limit)
    this.#isStalled = false
    return count
  }

  async #lease(limit: number): Promise<number> {
    const { db, recorder } = this.#context
    await recorder.retried()
    const owner = this.#newOwner()
    this.#interrupted.clear()
    const leased = await leaseDue(db, owner, limit, [...this.#full])
    for (const subscription of leased) {
      this.#start(subscription, owner)
      // It was changed between its lease and here.
      if (this.#interrupted.has(subscription.id)) this.interrupt(subscription.id)
    }
    return leased.length
  }

  /** A run under an older lease of the same subscription ends first: never two senders, never out of order. */
  #start(subscription: Subscription, owner: string, event?: LogEvent): void {
    const before = this.#runs.get(subscription.id)
    before?.controller.abort()
    const controller = new AbortController()
    if (this.#stopping.signal.aborted) controller.abort()
    const control = {
      event,
      signal: controller.signal,
      setWaiting: (isWaiting: boolean) => this.#count(subscription.agentId, isWaiting ? -1 : 1),
    }
    // The last records of the run before may have moved the cursor since this lease, unless it was idle.
    const isOutdated = before !== undefined && event === undefined
    const done = (before?.done ?? Promise.resolve()).then(async () => {
      const now = isOutdated ? await this.#readAgain(subscription.id).catch(() => {}) : undefined
      return this.#work(now ?? subscription, owner, control)
    })
    const run = { controller, done }
    this.#runs.set(subscription.id, run)
    this.#count(subscription.agentId, 1)
    void done.then(() => {
      if (this.#runs.get(subscription.id) === run) this.#runs.delete(subscription.id)
      this.#count(subscription.agentId, -1)
    })
  }

  async #readAgain(subscriptionId: string): Promise<Subscription | undefined> {
    await this.#context.recorder.retried()
    return findSubscription(this.#context.db, subscriptionId)
  }

  async #work(subscription: Subscription, owner: string, control: RunControl): Promise<void> {
    const dueAt = await runSubscription(this.#context, subscription, owner, control)
    // An interrupted run may have requeued its lease, due at once.
    if (dueAt !== undefined || control.signal.aborted) this.notifyDue(dueAt)
  }

  /** Counts a run as busy, or no longer. Where that makes room, what waits in the store can be leased. */
  #count(agentId: string, change: 1 | -1): void {
    const ofAgent = (this.#busyOfAgent.get(agentId) ?? 0) + change
    if (ofAgent === 0) this.#busyOfAgent.delete(agentId)
    else this.#busyOfAgent.set(agentId, ofAgent)
    this.#busy += change
    if (ofAgent >= runsOfAgentMax) this.#full.add(agentId)
    else if (this.#full.delete(agentId) || (change < 0 && this.#busy === runsMax - 1)) this.notifyDue()
  }

  /** Waits until something falls due, unless a batch was full. */
  async #idleAfter(leased: number, wanted: number): Promise<void> {
    if (leased >= wanted || this.#isNotified) return
    const { db, clock } = this.#context
    const dueAt = await nextDueAt(db, this.#id, clock.now(), [...this.#full])
    const delayMs = dueAt === undefined ? sweepMs : Math.min(sweepMs, dueAt - clock.now())
    if (this.#isNotified) return
    // What is due and was not leased has a reason that passes with time.
    if (delayMs > 0) await this.#wait(delayMs)
    else if (leased === 0) await this.#wait(refusedMs)
  }

  #wait(delayMs: number): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve()
    this.#waitingUntil = this.#context.clock.now() + delayMs
    return new Promise((resolve) => {
      const cancel = this.#context.clock.after(delayMs, () => this.#wake())
      this.#wake = () => {
        cancel()
        this.#wake = () => {}
        this.#waitingUntil = 0
        resolve()
      }
    })
  }
}
