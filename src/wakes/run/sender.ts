import { sleep } from '../../lib/clock.ts'
import { targets } from '../../registry/subscriptions/targets.ts'
import { type Attempt, type DeliveryResult, deliver } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { afterDelivery } from '../rules/after-delivery.ts'
import { resultOf } from '../rules/decided.ts'
import { isLong } from '../rules/retry-schedule.ts'
import { retryWait } from '../rules/retry-wait.ts'
import { type Arrival, findDelivery, saveDelivery } from '../store/delivery-store.ts'
import { resumeWithDigest } from '../store/lease-progress.ts'
import { leaseMs, renewLease } from '../store/lease-store.ts'
import { keepEmission, type Unfinished } from '../store/unfinished-store.ts'
import { renew, requeue } from './keep-lease.ts'
import { Naps } from './naps.ts'
import { recordFailure } from './record-failure.ts'
import type { Run } from './run.ts'
import { type Turn, Turns } from './turns.ts'
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
  /** What goes to a stream is kept, and then written, in the order in which it was started, however the store answers. */
  readonly #turns = new Turns()
  #renewedAt = Number.NEGATIVE_INFINITY

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
    const turn = this.#isStreamed ? this.#turns.next() : undefined
    this.#waits.begin()
    try {
      if (!context.areLeasesSafe() && !(await renew(this.#run))) return stopped([])
      return await this.#deliver(emission, cursorLogId, turn)
    } finally {
      this.#waits.end()
      turn?.pass()
    }
  }

  /**
   * Writes what follows from a result. Results come in the order in which their emissions were started. An emission that
   * arrived is recorded even if the lease was lost meanwhile. False: the lease has ended.
   */
  async finish(emission: Emission, cursorLogId: number, result: DeliveryResult): Promise<boolean> {
    const { context, subscription, lease } = this.#run
    const arrival = arrivalOf(result)
    if (lease.isLost && arrival === undefined) return false
    const now = context.clock.now()
    const { logId, replayed } = emission
    const step = afterDelivery(subscription, lease.progress, { logId, replayed, cursorLogId }, result, now)
    if (step.next === 'advance') {
      const { recorder } = context
      lease.advance(step.progress)
      recorder.arrived(lease, emission, result.attempts, arrival ?? 'delivered')
      if (recorder.backlog(lease) >= backlogMax) await recorder.settled(lease)
    } else if (step.next === 'requeue') await requeue(this.#run, now)
    else await recordFailure(this.#run, emission, result, step)
    return !lease.isLost
  }

  async #deliver(emission: Emission, cursorLogId: number, turn: Turn | undefined): Promise<DeliveryResult> {
    const { context, subscription } = this.#run
    const prior = this.#isResuming ? await findDelivery(context.db, subscription.id, emission.eventId) : undefined
    this.#isResuming = prior !== undefined
    const attempts = prior?.attempts ?? []
    // It was decided, and the lease was lost before the cursor could move.
    if (prior && prior.outcome !== 'pending') return resultOf(prior)
    if (prior?.nextAttemptAt && !(await this.#waitUntil(prior.nextAttemptAt))) return stopped(attempts)
    return this.#deliverBy({ emission, cursorLogId }, attempts, turn)
  }

  /** Has the channel deliver an emission. A failure of the store stops the channel first, and then rejects. */
  async #deliverBy(
    unfinished: Unfinished,
    attempts: readonly Attempt[],
    turn: Turn | undefined,
  ): Promise<DeliveryResult> {
    const { emission } = unfinished
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
        keep: (made) => orStop(this.#keepInTurn(unfinished, made, turn), false),
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

  async #keepInTurn(unfinished: Unfinished, attempts: readonly Attempt[], turn?: Turn): Promise<boolean> {
    await turn?.before
    return this.#keep(unfinished, attempts).finally(() => turn?.pass())
  }

  /** Keeps an emission that may be open for long; of a replay, which is asked for again by its own row, only the record. */
  async #keep(unfinished: Unfinished, attempts: readonly Attempt[]): Promise<boolean> {
    const { context, subscription, lease } = this.#run
    const { emission } = unfinished
    const sent = { subscriptionId: subscription.id, emission, attempts }
    const isHeld = await context.db.transaction(async (tx) => {
      if (!(await renewLease(tx, lease, tx.now + leaseMs))) return false
      if (emission.replayed) await saveDelivery(tx, sent, 'pending')
      else await keepEmission(tx, subscription.id, unfinished, attempts)
      if (isLong(attempts)) await resumeWithDigest(tx, lease)
      return true
    })
    if (!isHeld) lease.lose()
    return isHeld
  }

  async #waitFor<Value>(value: Promise<Value>): Promise<Value | undefined> {
    const { context, signal } = this.#run
    const naps = new Naps(context.clock, signal)
    let isSettled = false
    const settle = (): void => {
      isSettled = true
      naps.end()
    }
    value.then(settle, settle)
    try {
      for (;;) {
        await this.#waits.wait(naps.next(renewMs))
        if (isSettled) return await value
        if (!(await this.#renewForAll())) return undefined
      }
    } finally {
      naps.end()
    }
  }

  /** Several emissions of a run that wait renew their lease together. */
  async #renewForAll(): Promise<boolean> {
    const { lease, signal, context } = this.#run
    const now = context.clock.now()
    if (!lease.isLost && !signal.aborted && Math.abs(now - this.#renewedAt) < renewMs) return true
    const isHeld = await renew(this.#run)
    if (isHeld) this.#renewedAt = now
    return isHeld
  }

  /** Whether its receiver connects to the gateway. */
  get #isStreamed(): boolean {
    const { subscription } = this.#run
    return subscription.kind === 'wake' && targets[subscription.harnessTarget].connects
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

function arrivalOf({ outcome }: DeliveryResult): Arrival | undefined {
  return outcome === 'delivered' || outcome === 'written' ? outcome : undefined
}

function stopped(attempts: readonly Attempt[]): DeliveryResult {
  return { outcome: 'stopped', reason: null, attempts }
}
