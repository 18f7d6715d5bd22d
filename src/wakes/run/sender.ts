import { sleep } from '../../lib/clock.ts'
import { type Attempt, type DeliveryResult, deliver } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { afterDelivery } from '../rules/after-delivery.ts'
import { resultOf } from '../rules/decided.ts'
import { isLong } from '../rules/retry-schedule.ts'
import { retryWait } from '../rules/retry-wait.ts'
import { findDelivery, saveDelivery } from '../store/delivery-store.ts'
import { resumeWithDigest } from '../store/lease-progress.ts'
import { leaseMs, renewLease } from '../store/lease-store.ts'
import { keepEmission, type Unfinished } from '../store/unfinished-store.ts'
import { renew, requeue } from './keep-lease.ts'
import { recordFailure } from './record-failure.ts'
import type { Run } from './run.ts'
import { Waits } from './waits.ts'

/** How many deliveries of a run may wait for their record: bounds what a crash sends again. */
const backlogMax = 64

/** How often a lease is renewed while a receiver takes its time. */
const renewMs = leaseMs / 3

/** Sends the emissions of one run, and writes what follows from each. */
export class Sender {
  readonly #run: Run
  /** True until an emission has no delivery on record: a lease before this one may have started those that have. */
  #isResuming: boolean
  readonly #waits: Waits

  constructor(run: Run) {
    this.#run = run
    this.#waits = new Waits((waiting) => run.setWaiting(waiting))
    this.#isResuming = run.event === undefined
  }

  /** Sends one emission. `cursorLogId`: where the subscription stands once it is decided. False: the lease has ended. */
  async send(emission: Emission, cursorLogId: number): Promise<boolean> {
    return this.finish(emission, cursorLogId, await this.start(emission, cursorLogId))
  }

  /** Starts to send an emission. `cursorLogId`: where the subscription stands after it. Rejects only when the store fails. */
  async start(emission: Emission, cursorLogId: number): Promise<DeliveryResult> {
    const { context, lease, signal } = this.#run
    if (lease.isLost || signal.aborted) return stopped([])
    return this.#waits.during(async () => {
      if (!context.areLeasesSafe() && !(await renew(this.#run))) return stopped([])
      return this.#deliver(emission, cursorLogId)
    })
  }

  /**
   * Writes what follows from a result. Results come in the order in which their emissions were started. An emission that
   * arrived is recorded even if the lease was lost meanwhile. False: the lease has ended.
   */
  async finish(emission: Emission, cursorLogId: number, result: DeliveryResult): Promise<boolean> {
    const { context, subscription, lease } = this.#run
    if (lease.isLost && result.outcome !== 'delivered') return false
    const now = context.clock.now()
    const { logId, replayed } = emission
    const step = afterDelivery(subscription, lease.progress, { logId, replayed, cursorLogId }, result, now)
    if (step.next === 'advance') {
      const { recorder } = context
      lease.advance(step.progress)
      recorder.delivered(lease, emission, result.attempts)
      if (recorder.backlog(lease) >= backlogMax) await recorder.settled(lease)
    } else if (step.next === 'requeue') await requeue(this.#run, now)
    else await recordFailure(this.#run, emission, result, step)
    return !lease.isLost
  }

  async #deliver(emission: Emission, cursorLogId: number): Promise<DeliveryResult> {
    const { context, subscription } = this.#run
    const prior = this.#isResuming ? await findDelivery(context.db, subscription.id, emission.eventId) : undefined
    this.#isResuming = prior !== undefined
    const attempts = prior?.attempts ?? []
    // It was decided, and the lease was lost before the cursor could move.
    if (prior && prior.outcome !== 'pending') return resultOf(prior)
    if (prior?.nextAttemptAt && !(await this.#waitUntil(prior.nextAttemptAt))) return stopped(attempts)
    return this.#deliverBy(emission, cursorLogId, attempts)
  }

  /** Has the channel deliver an emission. A failure of the store stops the channel first, and then rejects. */
  async #deliverBy(emission: Emission, cursorLogId: number, attempts: readonly Attempt[]): Promise<DeliveryResult> {
    const { context, subscription, identity, signal } = this.#run
    let storeFailure: { readonly error: unknown } | undefined
    const orStop = <Result>(act: Promise<Result>, stop: Result): Promise<Result> =>
      act.catch((error) => {
        storeFailure = { error }
        return stop
      })
    let result: DeliveryResult
    try {
      result = await deliver(context.channels, {
        subscription,
        agentIdentity: identity,
        emission,
        attempts,
        signal,
        keep: (made) => orStop(this.#keep({ emission, cursorLogId }, made), false),
        waitFor: (value) => orStop(this.#waitFor(value), undefined),
        retryAt: (made, at) => orStop(this.#retryAt(emission, made, at), false),
        idle: (wait) =>
          orStop(
            this.#waits.wait(wait).then(() => renew(this.#run)),
            false,
          ),
      })
    } catch (error) {
      // The subscription degrades at once: it must not look healthy, and its events must not be lost.
      context.log.error({ err: error, subscriptionId: subscription.id, eventId: emission.eventId }, 'wake.broken')
      result = { outcome: 'rejected', reason: 'misconfigured', attempts }
    }
    if (storeFailure) throw storeFailure.error
    return result
  }

  /** Keeps an emission that may be open for long. A replay is asked for again by its own row. */
  async #keep(unfinished: Unfinished, attempts: readonly Attempt[]): Promise<boolean> {
    const { context, subscription, lease } = this.#run
    if (unfinished.emission.replayed) return !lease.isLost
    const isHeld = await context.db.transaction(async (tx) => {
      if (!(await renewLease(tx, lease, tx.now + leaseMs))) return false
      await keepEmission(tx, subscription.id, unfinished, attempts)
      if (isLong(attempts)) await resumeWithDigest(tx, lease)
      return true
    })
    if (!isHeld) lease.lose()
    return isHeld
  }

  async #waitFor<Value>(value: Promise<Value>): Promise<Value | undefined> {
    const { context, signal } = this.#run
    const arrived = value.then((value) => ({ value }))
    for (;;) {
      const nap = new AbortController()
      const either = Promise.race([arrived, sleep(context.clock, renewMs, AbortSignal.any([signal, nap.signal]))])
      const result = await this.#waits.wait(either).finally(() => nap.abort())
      if (result) return result.value
      if (!(await renew(this.#run))) return undefined
    }
  }

  /** Records the attempts so far, and waits for the next one. False: the lease has ended. */
  async #retryAt(emission: Emission, attempts: readonly Attempt[], nextAttemptAt: number): Promise<boolean> {
    const { context, subscription, lease } = this.#run
    await context.recorder.settled(lease)
    const isHeld = await context.db.transaction(async (tx) => {
      if (!(await renewLease(tx, lease, nextAttemptAt + leaseMs))) return false
      await saveDelivery(tx, { subscriptionId: subscription.id, emission, attempts }, 'pending', nextAttemptAt)
      return true
    })
    if (!isHeld) lease.lose()
    return isHeld && this.#waitUntil(nextAttemptAt)
  }

  /** False: the wait was cut short or left to the store, or the lease was lost during it. */
  async #waitUntil(nextAttemptAt: number): Promise<boolean> {
    const { context, signal } = this.#run
    const step = retryWait(nextAttemptAt, context.clock.now())
    if (step.wait === 'requeue') {
      await requeue(this.#run, nextAttemptAt)
      return false
    }
    if (step.wait === 'sleep') await this.#waits.wait(sleep(context.clock, step.delayMs, signal))
    return renew(this.#run)
  }
}

function stopped(attempts: readonly Attempt[]): DeliveryResult {
  return { outcome: 'stopped', reason: null, attempts }
}
