import { sleep } from '../../lib/clock.ts'
import type { EventType } from '../../log/event.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { type Attempt, type DeliveryResult, deliver, retryWaitMaxMs } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { failedInARowAfter, failuresMax } from '../rules/failures.ts'
import { audienceOf } from '../rules/signal-audience.ts'
import { windowAfter } from '../rules/window.ts'
import { findDelivery, saveDelivery } from '../store/delivery-store.ts'
import { advanceCursor, type Lease, leaseMs, type Progress, renewLease, requeueLease } from '../store/lease-store.ts'
import { degradeSubscription } from '../store/subscription-state.ts'
import type { RunContext, RunControl } from './run-context.ts'

/** How far a run may send ahead of its records: bounds what a crash sends again. */
const aheadMax = 64
/** A longer wait (a receiver asked for it) is left to the schedule in the store, and the run ends. */
const waitMaxMs = 10_000

/** Sends the emissions of one lease and writes what follows from each: the record, the next try, the end. */
export class Sender {
  readonly #context: RunContext
  readonly #subscription: Subscription
  readonly #identity: string
  readonly #lease: Lease
  readonly #control: RunControl
  /** Until the first emission that nobody began before. */
  #resuming: boolean
  #inFlight = 0

  constructor(context: RunContext, subscription: Subscription, identity: string, lease: Lease, control: RunControl) {
    this.#context = context
    this.#subscription = subscription
    this.#identity = identity
    this.#lease = lease
    this.#control = control
    this.#resuming = control.event === undefined
  }

  /** Sends one emission; its cursor is where the subscription stands behind it. False: the lease has ended. */
  async send(emission: Emission, cursorLogId: number): Promise<boolean> {
    return this.finish(emission, cursorLogId, await this.start(emission))
  }

  /** Begins to send an emission. Rejects only when the store fails. */
  async start(emission: Emission): Promise<DeliveryResult> {
    const stopped: DeliveryResult = { outcome: 'stopped', reason: null, attempts: [] }
    if (this.#lease.lost || this.#control.signal.aborted) return stopped
    this.#inFlight++
    try {
      if (!this.#context.areLeasesSafe() && !(await this.#stillHeld())) return stopped
      return await this.#deliver(emission)
    } finally {
      this.#inFlight--
    }
  }

  /**
   * Writes what follows from a result; results come in the order in which their emissions began. What arrived is
   * recorded also where the lease was lost meanwhile. False: the lease has ended.
   */
  async finish(emission: Emission, cursorLogId: number, result: DeliveryResult): Promise<boolean> {
    if (this.#lease.lost && result.outcome !== 'delivered') return false
    if (result.outcome === 'stopped') return this.#stop()
    if (result.outcome === 'rejected') return this.#reject(emission, result)
    const progress = this.#progressBehind(emission, cursorLogId, result)
    if (result.outcome === 'failed') return this.#fail(emission, result, progress)
    this.#lease.progress = progress
    const { recorder } = this.#context
    recorder.delivered(this.#lease, emission, result.attempts)
    if (recorder.backlog(this.#lease) >= aheadMax) await recorder.settled(this.#lease)
    return !this.#lease.lost
  }

  async #deliver(emission: Emission): Promise<DeliveryResult> {
    const { db, log } = this.#context
    const prior = this.#resuming ? await findDelivery(db, this.#subscription.id, emission.eventId) : undefined
    this.#resuming = prior !== undefined
    const attempts = prior?.attempts ?? []
    const stopped = { outcome: 'stopped', reason: null, attempts } as const
    // It arrived, and a change took the lease away before the cursor could move.
    if (prior?.outcome === 'delivered') return { outcome: 'delivered', reason: null, attempts }
    if (prior?.nextAttemptAt && !(await this.#waitUntil(prior.nextAttemptAt))) return stopped

    let refused: unknown
    const orStop = async (act: Promise<boolean>): Promise<boolean> => {
      try {
        return await act
      } catch (error) {
        refused = error
        return false
      }
    }
    try {
      const { signal } = this.#control
      const order = {
        agentIdentity: this.#identity,
        emission,
        attempts,
        signal,
        retryAt: (made: readonly Attempt[], at: number) => orStop(this.#retryAt(emission, made, at)),
        idle: (wait: Promise<unknown>) => orStop(this.#idle(wait).then(() => this.#stillHeld())),
      }
      const result = await deliver(this.#context.channels, this.#subscription, order)
      if (refused === undefined) return result
    } catch (error) {
      // A subscription that cannot be sent for degrades at once: it must not look healthy, nor lose what it cannot send.
      log.error({ err: error, subscriptionId: this.#subscription.id, eventId: emission.eventId }, 'wake.broken')
      return { outcome: 'rejected', reason: 'misconfigured', attempts }
    }
    throw refused
  }

  async #retryAt(emission: Emission, attempts: readonly Attempt[], nextAttemptAt: number): Promise<boolean> {
    const { db, recorder } = this.#context
    const { id } = this.#subscription
    await recorder.settled(this.#lease)
    const held = await db.transaction(async (tx) => {
      if (!(await renewLease(tx, id, this.#lease.owner, nextAttemptAt + leaseMs))) return false
      await saveDelivery(tx, id, emission, attempts, 'pending', nextAttemptAt)
      return true
    })
    return this.#keep(held) && this.#waitUntil(nextAttemptAt)
  }

  /** False: the wait was cut short, or left to the store, or the subscription was changed or removed during it. */
  async #waitUntil(at: number): Promise<boolean> {
    const { db, clock } = this.#context
    const { signal } = this.#control
    const { owner } = this.#lease
    const { id } = this.#subscription
    const waitMs = at - clock.now()
    // No wait was ever that long: the clock has been set back since, and when it is over cannot be told.
    if (waitMs > retryWaitMaxMs) return this.#stillHeld()
    if (waitMs > waitMaxMs) {
      await db.transaction((tx) => requeueLease(tx, id, owner, at))
      return this.#keep(false)
    }
    await this.#idle(sleep(clock, waitMs, signal))
    return this.#stillHeld()
  }

  /** A run that only waits counts for nothing; one that has more in flight does not only wait. */
  async #idle(wait: Promise<unknown>): Promise<void> {
    const alone = this.#inFlight === 1
    if (alone) this.#control.setWaiting(true)
    await wait
    if (alone) this.#control.setWaiting(false)
  }

  async #stillHeld(): Promise<boolean> {
    const { owner } = this.#lease
    if (this.#control.signal.aborted) return false
    const { id } = this.#subscription
    return this.#keep(await this.#context.db.transaction((tx) => renewLease(tx, id, owner, tx.now + leaseMs)))
  }

  #progressBehind(emission: Emission, cursorLogId: number, result: DeliveryResult): Progress {
    const { windowUntil, failedInARow } = this.#lease.progress
    return {
      cursorLogId,
      lastEmittedLogId: emission.replayed ? this.#lease.progress.lastEmittedLogId : emission.logId,
      failedInARow: failedInARowAfter(result, failedInARow),
      windowUntil: windowAfter(this.#subscription, windowUntil, this.#context.clock.now()),
    }
  }

  async #stop(): Promise<false> {
    const { db, clock, recorder } = this.#context
    await recorder.settled(this.#lease)
    if (this.#lease.lost) return false
    await db.transaction((tx) => requeueLease(tx, this.#subscription.id, this.#lease.owner, clock.now()))
    return false
  }

  /** The schedule ran out: the cursor passes the event, and the third in a row degrades. */
  #fail(emission: Emission, result: DeliveryResult, progress: Progress): Promise<boolean> {
    const tooMany = !result.isOfEvent && progress.failedInARow >= failuresMax
    const reason = `${failuresMax} events failed in a row; the last: ${result.reason ?? 'failed'}`
    return this.#end(emission, result, progress, tooMany ? reason : null)
  }

  /** The receiver says that no retry will help: degraded at once, and the cursor stays, so that nothing is lost. */
  #reject(emission: Emission, result: DeliveryResult): Promise<boolean> {
    return this.#end(emission, result, this.#lease.progress, result.reason ?? 'rejected')
  }

  async #end(
    emission: Emission,
    result: DeliveryResult,
    progress: Progress,
    degradedBecause: string | null,
  ): Promise<boolean> {
    const { db, recorder, append } = this.#context
    const { id, projectId, agentId } = this.#subscription
    const { owner } = this.#lease
    const outcome = result.outcome === 'rejected' ? 'rejected' : 'failed'
    await recorder.settled(this.#lease)
    const held = await db.transaction(async (tx) => {
      if (!(await advanceCursor(tx, id, owner, progress))) return false
      await saveDelivery(tx, id, emission, result.attempts, outcome, null)
      if (degradedBecause !== null) await degradeSubscription(tx, id, owner, degradedBecause)
      const about = { subscriptionId: id, agent: this.#identity }
      const by = (type: EventType) => ({ type, actor: '@gateway', audience: audienceOf(type, agentId) })
      const { eventId, logId } = emission
      await append(tx, projectId, [
        { ...by('wake.failed'), data: { ...about, eventId, logId, reason: result.reason } },
        ...(degradedBecause === null
          ? []
          : [{ ...by('subscription.degraded'), data: { ...about, reason: degradedBecause } }]),
      ])
      return true
    })
    this.#lease.progress = progress
    if (held && degradedBecause !== null) this.#warn(degradedBecause)
    return this.#keep(held) && degradedBecause === null
  }

  /** Whoever asked for pushes has no other place to see it: A2A has no field for a config's health. */
  #warn(reason: string): void {
    const subscription = this.#subscription
    const { kind, audience, target } = subscription
    const about = kind === 'push' ? { taskId: audience, configId: target.configId } : {}
    this.#context.log.warn(
      { subscriptionId: subscription.id, agent: this.#identity, ...about, reason },
      'subscription.degraded',
    )
  }

  #keep(held: boolean): boolean {
    if (!held) this.#lease.lost = true
    return held
  }
}
