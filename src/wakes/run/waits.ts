import { sleep } from '../../lib/clock.ts'
import { InterruptibleSleep } from '../../lib/interruptible-sleep.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Attempt } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { isLong } from '../rules/retry-schedule.ts'
import { retryWait } from '../rules/retry-wait.ts'
import { saveDelivery } from '../store/delivery-store.ts'
import { resumeWithDigest } from '../store/lease-progress.ts'
import { leaseMs, renewLease } from '../store/lease-store.ts'
import { keepEmission, type UnfinishedEmission } from '../store/unfinished-store.ts'
import { type Run, renew, requeue } from './run.ts'

/** How often a lease is renewed while a receiver takes its time. */
const renewMs = leaseMs / 3

/** The waits of the emissions of one run. A run all of whose emissions wait costs nothing, and takes no place from other runs. */
export class Waits {
  readonly #run: Run
  #inFlight = 0
  #waiting = 0
  #isReported = false
  #renewedAt = Number.NEGATIVE_INFINITY

  constructor(run: Run) {
    this.#run = run
  }

  /** Counts an emission as in flight. */
  begin(): void {
    this.#count(1, 0)
  }

  /** Counts an emission as no longer in flight. */
  end(): void {
    this.#count(-1, 0)
  }

  /** Keeps an emission that may be open for long; of a replay, which is repeated by its own row, only the record. */
  keep(unfinished: UnfinishedEmission, attempts: readonly Attempt[]): Promise<boolean> {
    const { subscription, lease } = this.#run
    const { emission } = unfinished
    return this.#whileOurs(leaseMs, async (tx) => {
      if (emission.replayed) await saveDelivery(tx, { subscriptionId: subscription.id, emission, attempts }, 'pending')
      else await keepEmission(tx, subscription.id, unfinished, attempts)
      if (isLong(attempts)) await resumeWithDigest(tx, lease)
    })
  }

  /** Waits for a value, however long. Returns undefined when the run stops, or the lease was lost. */
  async waitFor<Value>(value: Promise<Value>): Promise<Value | undefined> {
    const { context, signal } = this.#run
    const pauses = new InterruptibleSleep(context.clock, signal)
    let isSettled = false
    const settle = (): void => {
      isSettled = true
      pauses.end()
    }
    value.then(settle, settle)
    try {
      for (;;) {
        await this.#wait(pauses.next(renewMs))
        if (isSettled) return await value
        if (!(await this.#renewForAll())) return undefined
      }
    } finally {
      pauses.end()
    }
  }

  /** Records the attempts so far, and waits for the next one. Returns false when the lease has ended. */
  async retryAt(emission: Emission, attempts: readonly Attempt[], nextAttemptAt: number): Promise<boolean> {
    const { context, subscription, lease } = this.#run
    await context.recorder.settled(lease)
    const leasedMs = nextAttemptAt + leaseMs - context.clock.now()
    const isOurs = await this.#whileOurs(leasedMs, (tx) =>
      saveDelivery(tx, { subscriptionId: subscription.id, emission, attempts }, 'pending', nextAttemptAt),
    )
    return isOurs && this.waitUntil(nextAttemptAt)
  }

  /** Returns false when the wait was cut short or left to the store, or the lease was lost during it. */
  async waitUntil(nextAttemptAt: number): Promise<boolean> {
    const { context, signal } = this.#run
    const step = retryWait(nextAttemptAt, context.clock.now())
    if (step.wait === 'requeue') {
      await requeue(this.#run, nextAttemptAt)
      return false
    }
    if (step.wait === 'sleep') await this.#wait(sleep(context.clock, step.delayMs, signal))
    return renew(this.#run)
  }

  /** Waits for a place for an attempt. Returns false when the lease was lost meanwhile. */
  async idle(wait: Promise<unknown>): Promise<boolean> {
    await this.#wait(wait)
    return renew(this.#run)
  }

  /** Writes in a transaction that renews the lease. Returns false, having written nothing, when it was lost. */
  async #whileOurs(leasedMs: number, write: (tx: Transaction) => Promise<void>): Promise<boolean> {
    const { context, lease } = this.#run
    const isOurs = await context.db.transaction(async (tx) => {
      if (!(await renewLease(tx, lease, tx.now + leasedMs))) return false
      await write(tx)
      return true
    })
    if (!isOurs) lease.lose()
    return isOurs
  }

  /** Renews the lease once for several emissions that wait. */
  async #renewForAll(): Promise<boolean> {
    const { lease, signal, context } = this.#run
    const now = context.clock.now()
    if (!lease.isLost && !signal.aborted && Math.abs(now - this.#renewedAt) < renewMs) return true
    const isOurs = await renew(this.#run)
    if (isOurs) this.#renewedAt = now
    return isOurs
  }

  async #wait<Result>(until: Promise<Result>): Promise<Result> {
    this.#count(0, 1)
    try {
      return await until
    } finally {
      this.#count(0, -1)
    }
  }

  #count(inFlight: number, waiting: number): void {
    this.#inFlight += inFlight
    this.#waiting += waiting
    const isWaiting = this.#inFlight > 0 && this.#waiting === this.#inFlight
    if (isWaiting === this.#isReported) return
    this.#isReported = isWaiting
    this.#run.setWaiting(isWaiting)
  }
}
