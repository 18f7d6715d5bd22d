import { sleep } from '../../lib/clock.ts'
import type { Attempt } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { isLong } from '../rules/retry-schedule.ts'
import { retryWait } from '../rules/retry-wait.ts'
import { saveDelivery } from '../store/delivery-store.ts'
import { resumeWithDigest } from '../store/lease-progress.ts'
import { leaseMs, renewLease } from '../store/lease-store.ts'
import { keepEmission, type Unfinished } from '../store/unfinished-store.ts'
import { InterruptibleSleep } from './interruptible-sleep.ts'
import { renew, requeue } from './keep-lease.ts'
import type { Run } from './run.ts'
import type { Slot } from './sequence.ts'
import { WaitingEmissions } from './waiting-emissions.ts'

/** How often a lease is renewed while a receiver takes its time. */
const renewMs = leaseMs / 3

/** What the channels of one run may ask for while they deliver: keep, wait, try again. */
export class OrderActs {
  readonly run: Run
  readonly waits: WaitingEmissions
  #renewedAt = Number.NEGATIVE_INFINITY

  constructor(run: Run) {
    this.run = run
    this.waits = new WaitingEmissions((waiting) => run.setWaiting(waiting))
  }

  async keepInOrder(unfinished: Unfinished, attempts: readonly Attempt[], slot?: Slot): Promise<boolean> {
    await slot?.before
    return this.#keep(unfinished, attempts).finally(() => slot?.pass())
  }

  /** Keeps an emission that may be open for long; of a replay, which is repeated by its own row, only the record. */
  async #keep(unfinished: Unfinished, attempts: readonly Attempt[]): Promise<boolean> {
    const { context, subscription, lease } = this.run
    const { emission } = unfinished
    const sent = { subscriptionId: subscription.id, emission, attempts }
    const isOurs = await context.db.transaction(async (tx) => {
      if (!(await renewLease(tx, lease, tx.now + leaseMs))) return false
      if (emission.replayed) await saveDelivery(tx, sent, 'pending')
      else await keepEmission(tx, subscription.id, unfinished, attempts)
      if (isLong(attempts)) await resumeWithDigest(tx, lease)
      return true
    })
    if (!isOurs) lease.lose()
    return isOurs
  }

  async waitFor<Value>(value: Promise<Value>): Promise<Value | undefined> {
    const { context, signal } = this.run
    const pauses = new InterruptibleSleep(context.clock, signal)
    let isSettled = false
    const settle = (): void => {
      isSettled = true
      pauses.end()
    }
    value.then(settle, settle)
    try {
      for (;;) {
        await this.waits.wait(pauses.next(renewMs))
        if (isSettled) return await value
        if (!(await this.#renewForAll())) return undefined
      }
    } finally {
      pauses.end()
    }
  }

  /** Several emissions of a run that wait renew their lease together. */
  async #renewForAll(): Promise<boolean> {
    const { lease, signal, context } = this.run
    const now = context.clock.now()
    if (!lease.isLost && !signal.aborted && Math.abs(now - this.#renewedAt) < renewMs) return true
    const isOurs = await renew(this.run)
    if (isOurs) this.#renewedAt = now
    return isOurs
  }

  /** Records the attempts so far, and waits for the next one. False: the lease has ended. */
  async retryAt(emission: Emission, attempts: readonly Attempt[], nextAttemptAt: number): Promise<boolean> {
    const { context, subscription, lease } = this.run
    await context.recorder.settled(lease)
    const isOurs = await context.db.transaction(async (tx) => {
      if (!(await renewLease(tx, lease, nextAttemptAt + leaseMs))) return false
      await saveDelivery(tx, { subscriptionId: subscription.id, emission, attempts }, 'pending', nextAttemptAt)
      return true
    })
    if (!isOurs) lease.lose()
    return isOurs && this.waitUntil(nextAttemptAt)
  }

  /** False: the wait was cut short or left to the store, or the lease was lost during it. */
  async waitUntil(nextAttemptAt: number): Promise<boolean> {
    const { context, signal } = this.run
    const step = retryWait(nextAttemptAt, context.clock.now())
    if (step.wait === 'requeue') {
      await requeue(this.run, nextAttemptAt)
      return false
    }
    if (step.wait === 'sleep') await this.waits.wait(sleep(context.clock, step.delayMs, signal))
    return renew(this.run)
  }

  /** WaitingEmissions without taking a place from other runs. False: the lease was lost meanwhile. */
  async idle(wait: Promise<unknown>): Promise<boolean> {
    await this.waits.wait(wait)
    return renew(this.run)
  }
}
