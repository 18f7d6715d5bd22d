import { sleep } from '../../lib/clock.ts'
import { type Attempt, type DeliveryResult, deliver } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { afterDelivery } from '../rules/after-delivery.ts'
import { retryWait } from '../rules/retry-wait.ts'
import { findDelivery, saveDelivery } from '../store/delivery-store.ts'
import { leaseMs, renewLease } from '../store/lease-store.ts'
import { renew, requeue } from './keep-lease.ts'
import { recordFailure } from './record-failure.ts'
import type { Run } from './run.ts'

/** How many deliveries of a run may wait for their record: bounds what a crash sends again. */
const backlogMax = 64

/** Sends the emissions of one run, and writes what follows from each. */
export class Sender {
  readonly #run: Run
  /** True until an emission has no delivery on record: a lease before this one may have started those that have. */
  #isResuming: boolean
  #inFlight = 0

  constructor(run: Run) {
    this.#run = run
    this.#isResuming = run.event === undefined
  }

  /** Sends one emission. `cursorLogId`: where the subscription stands once it is decided. False: the lease has ended. */
  async send(emission: Emission, cursorLogId: number): Promise<boolean> {
    return this.finish(emission, cursorLogId, await this.start(emission))
  }

  /** Starts to send an emission. Rejects only when the store fails. */
  async start(emission: Emission): Promise<DeliveryResult> {
    const { context, lease, signal } = this.#run
    if (lease.isLost || signal.aborted) return stopped([])
    this.#inFlight++
    try {
      if (!context.areLeasesSafe() && !(await renew(this.#run))) return stopped([])
      return await this.#deliver(emission)
    } finally {
      this.#inFlight--
    }
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

  async #deliver(emission: Emission): Promise<DeliveryResult> {
    const { context, subscription } = this.#run
    const prior = this.#isResuming ? await findDelivery(context.db, subscription.id, emission.eventId) : undefined
    this.#isResuming = prior !== undefined
    const attempts = prior?.attempts ?? []
    // It arrived, and the lease was lost before the cursor could move.
    if (prior?.outcome === 'delivered') return { outcome: 'delivered', reason: null, attempts }
    if (prior?.nextAttemptAt && !(await this.#waitUntil(prior.nextAttemptAt))) return stopped(attempts)
    return this.#deliverBy(emission, attempts)
  }

  /** Has the channel deliver an emission. A failure of the store stops the channel first, and then rejects. */
  async #deliverBy(emission: Emission, attempts: readonly Attempt[]): Promise<DeliveryResult> {
    const { context, subscription, identity, signal } = this.#run
    let storeFailure: { readonly error: unknown } | undefined
    const orStop = (act: Promise<boolean>): Promise<boolean> =>
      act.catch((error) => {
        storeFailure = { error }
        return false
      })
    let result: DeliveryResult
    try {
      result = await deliver(context.channels, {
        subscription,
        agentIdentity: identity,
        emission,
        attempts,
        signal,
        retryAt: (made, at) => orStop(this.#retryAt(emission, made, at)),
        idle: (wait) => orStop(this.#idle(wait).then(() => renew(this.#run))),
      })
    } catch (error) {
      // The subscription degrades at once: it must not look healthy, and its events must not be lost.
      context.log.error({ err: error, subscriptionId: subscription.id, eventId: emission.eventId }, 'wake.broken')
      result = { outcome: 'rejected', reason: 'misconfigured', attempts }
    }
    if (storeFailure) throw storeFailure.error
    return result
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
    if (step.wait === 'sleep') await this.#idle(sleep(context.clock, step.delayMs, signal))
    return renew(this.#run)
  }

  /** Reports the run as waiting, unless it has other emissions in flight. */
  async #idle(wait: Promise<unknown>): Promise<void> {
    const isAlone = this.#inFlight === 1
    if (isAlone) this.#run.setWaiting(true)
    try {
      await wait
    } finally {
      if (isAlone) this.#run.setWaiting(false)
    }
  }
}

function stopped(attempts: readonly Attempt[]): DeliveryResult {
  return { outcome: 'stopped', reason: null, attempts }
}
