import { targets } from '../../words/targets.ts'
import { type Attempt, type DeliveryResult, deliver } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { afterDelivery, type NextStep } from '../rules/after-delivery.ts'
import { resultOf } from '../rules/recorded-result.ts'
import { type Arrival, type Delivery, findDelivery } from '../store/delivery-store.ts'
import { renew, requeue } from './keep-lease.ts'
import { Order } from './order.ts'
import { OrderActs } from './order-acts.ts'
import { recordFailure } from './record-failure.ts'
import type { Run } from './run.ts'
import { Sequence } from './sequence.ts'

/** How many deliveries of a run may wait for their record: bounds what a crash sends again. */
const backlogMax = 64

/** Sends the emissions of one run, and writes what follows from each. */
export class Sender {
  readonly #run: Run
  readonly #acts: OrderActs
  /** True until an emission has no delivery on record: a lease before this one may have started those that have. */
  #isResuming: boolean
  /** What goes to a stream is kept, and then written, in the order in which it was started, however the store answers. */
  readonly #sequence: Sequence | undefined

  constructor(run: Run) {
    const { subscription } = run
    this.#run = run
    this.#acts = new OrderActs(run)
    this.#isResuming = run.event === undefined
    const isStreamed = subscription.kind === 'wake' && targets[subscription.harnessTarget].connects
    this.#sequence = isStreamed ? new Sequence() : undefined
  }

  /** Sends one emission. `cursorLogId`: where the subscription stands once it is decided. False: the lease has ended. */
  async send(emission: Emission, cursorLogId: number): Promise<boolean> {
    return this.finish(emission, cursorLogId, await this.start(emission, cursorLogId))
  }

  /** Starts to send an emission. `cursorLogId`: where the subscription stands after it. Rejects only when the store fails. */
  async start(emission: Emission, cursorLogId: number): Promise<DeliveryResult> {
    const { context, lease, signal, subscription } = this.#run
    const { waits } = this.#acts
    if (lease.isLost || signal.aborted) return stopped(none)
    const slot = this.#sequence?.next()
    waits.begin()
    try {
      if (!context.areLeasesSafe() && !(await renew(this.#run))) return stopped(none)
      const prior = this.#isResuming ? await findDelivery(context.db, subscription.id, emission.eventId) : undefined
      this.#isResuming = prior !== undefined
      const decided = prior && (await this.#decided(prior))
      if (decided) return decided
      const order = new Order(this.#acts, { emission, cursorLogId }, prior?.attempts ?? none, slot)
      const result = await this.#deliver(order)
      // It has stopped the channel first.
      if (order.storeFailure) throw order.storeFailure.error
      return result
    } finally {
      waits.end()
      slot?.pass()
    }
  }

  /**
   * Writes what follows from a result. Results come in the order in which their emissions were started. An emission that
   * arrived is recorded even if the lease was lost meanwhile. False: the lease has ended.
   */
  finish(emission: Emission, cursorLogId: number, result: DeliveryResult): boolean | Promise<boolean> {
    const { context, subscription, lease } = this.#run
    const arrival = arrivalOf(result)
    if (lease.isLost && arrival === undefined) return false
    const now = context.clock.now()
    const { logId, replayed } = emission
    const step = afterDelivery(subscription, lease.progress, { logId, replayed, cursorLogId }, result, now)
    if (step.next !== 'advance') return this.#write(emission, result, step, now)
    const { recorder } = context
    lease.advance(step.progress)
    recorder.arrived(lease, emission, result.attempts, arrival ?? 'delivered')
    if (recorder.backlog(lease) < backlogMax) return !lease.isLost
    return recorder.settled(lease).then(() => !lease.isLost)
  }

  async #write(
    emission: Emission,
    result: DeliveryResult,
    step: Exclude<NextStep, { next: 'advance' }>,
    now: number,
  ): Promise<boolean> {
    if (step.next === 'requeue') await requeue(this.#run, now)
    else await recordFailure(this.#run, emission, result, step)
    return !this.#run.lease.isLost
  }

  /** The result of an emission that an earlier lease has started, where it needs no further attempt now. */
  async #decided(prior: Delivery): Promise<DeliveryResult | undefined> {
    const { outcome, attempts, nextAttemptAt } = prior
    // It was decided, and the lease was lost before the cursor could move.
    if (outcome !== 'pending') return resultOf(prior)
    if (nextAttemptAt && !(await this.#acts.waitUntil(nextAttemptAt))) return stopped(attempts)
    return undefined
  }

  async #deliver(order: Order): Promise<DeliveryResult> {
    const { context } = this.#run
    try {
      return await deliver(context.channels, order)
    } catch (error) {
      // The subscription degrades at once: it must not look healthy, and its events must not be lost.
      const { subscription, emission, attempts } = order
      context.log.error({ err: error, subscriptionId: subscription.id, eventId: emission.eventId }, 'wake.broken')
      return { outcome: 'rejected', reason: 'misconfigured', attempts }
    }
  }
}

const none: readonly Attempt[] = []

function arrivalOf({ outcome }: DeliveryResult): Arrival | undefined {
  return outcome === 'delivered' || outcome === 'written' ? outcome : undefined
}

function stopped(attempts: readonly Attempt[]): DeliveryResult {
  return { outcome: 'stopped', reason: null, attempts }
}
