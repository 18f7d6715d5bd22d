import { targets } from '../../words/targets.ts'
import { type Attempt, type DeliveryOrder, type DeliveryResult, deliver } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { afterDelivery, type NextStep } from '../rules/after-delivery.ts'
import { resultOf } from '../rules/recorded-result.ts'
import { type Arrival, type Delivery, findDelivery } from '../store/delivery-store.ts'
import type { UnfinishedEmission } from '../store/unfinished-store.ts'
import { recordFailure } from './record-failure.ts'
import { mayWake, type Run, renew, requeue } from './run.ts'
import { Waits } from './waits.ts'

/** How many deliveries of a run may wait for their record: bounds what a crash sends again. */
const backlogMax = 64

/** The order of one emission. A failure of the store stops the channel, and is kept here. */
type Order = DeliveryOrder & { storeFailure?: { readonly error: unknown } }

/** The place of an emission that goes to a stream: they are kept, and then written, in the order in which they were started. */
interface Slot {
  /** Resolves when every earlier one has passed. */
  readonly before: Promise<void>
  /** Lets the next one pass. A second call changes nothing. */
  readonly pass: () => void
}

/** Sends the emissions of one run, and writes what follows from each. */
export class Sender {
  readonly #run: Run
  readonly #waits: Waits
  /** True until an emission has no delivery on record: a lease before this one may have started those that have. */
  #isResuming: boolean
  readonly #isStreamed: boolean
  #lastSlot: Promise<void> = Promise.resolve()

  constructor(run: Run) {
    const { subscription } = run
    this.#run = run
    this.#waits = new Waits(run)
    this.#isResuming = run.event === undefined
    this.#isStreamed = subscription.kind === 'wake' && targets[subscription.harnessTarget].connects
  }

  /** Sends one emission. `cursorLogId`: where the subscription stands once it is decided. Returns false when the lease has ended. */
  async send(emission: Emission, cursorLogId: number): Promise<boolean> {
    return this.finish(emission, cursorLogId, await this.start(emission, cursorLogId))
  }

  /** Starts to send an emission. `cursorLogId`: where the subscription stands after it. Rejects only when the store fails. */
  async start(emission: Emission, cursorLogId: number): Promise<DeliveryResult> {
    const { context, lease, signal, subscription } = this.#run
    if (lease.isLost || signal.aborted) return stopped(none)
    const slot = this.#isStreamed ? this.#nextSlot() : undefined
    this.#waits.begin()
    try {
      if (!context.areLeasesSafe() && !(await renew(this.#run))) return stopped(none)
      if (!(await mayWake(this.#run, emission))) return stopped(none)
      const prior = this.#isResuming ? await findDelivery(context.db, subscription.id, emission.eventId) : undefined
      this.#isResuming = prior !== undefined
      const decided = prior && (await this.#decided(prior))
      if (decided) return decided
      const span = context.tracing?.begin(spanOf(this.#run, emission))
      const sent = span ? { ...emission, traceparent: span.traceparent } : emission
      const order = this.#orderOf({ emission: sent, cursorLogId }, prior?.attempts ?? none, slot)
      const result = await this.#deliver(order)
      span?.note({ 'rouse.attempts': result.attempts.length })
      span?.end(arrivalOf(result) ? undefined : (result.reason ?? result.outcome))
      // It has stopped the channel first.
      if (order.storeFailure) throw order.storeFailure.error
      return result
    } finally {
      this.#waits.end()
      slot?.pass()
    }
  }

  /**
   * Writes what follows from a result. Results come in the order in which their emissions were started. An emission that
   * arrived is recorded even if the lease was lost meanwhile. Returns false when the lease has ended.
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
    if (nextAttemptAt && !(await this.#waits.waitUntil(nextAttemptAt))) return stopped(attempts)
    return undefined
  }

  #orderOf(unfinished: UnfinishedEmission, attempts: readonly Attempt[], slot: Slot | undefined): Order {
    const { subscription, identity, signal } = this.#run
    const { emission } = unfinished
    const waits = this.#waits
    const orStop = <Result>(act: Promise<Result>, stop: Result): Promise<Result> =>
      act.catch((error) => {
        order.storeFailure = { error }
        return stop
      })
    const keep = async (made: readonly Attempt[]): Promise<boolean> => {
      await slot?.before
      return waits.keep(unfinished, made).finally(slot?.pass)
    }
    const order: Order = {
      subscription,
      agentIdentity: identity,
      emission,
      attempts,
      signal,
      keep: (made) => orStop(keep(made), false),
      waitFor: (value) => orStop(waits.waitFor(value), undefined),
      retryAt: (made, at) => orStop(waits.retryAt(emission, made, at), false),
      idle: (wait) => orStop(waits.idle(wait), false),
    }
    return order
  }

  #nextSlot(): Slot {
    const before = this.#lastSlot
    let pass = (): void => {}
    const passed = new Promise<void>((resolve) => {
      pass = resolve
    })
    this.#lastSlot = before.then(() => passed)
    return { before, pass }
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

/** The span of a wake, from its first attempt to its outcome. A digest of several traces begins one of its own. */
function spanOf({ subscription }: Run, { eventId, eventType, eventCount, traceparent }: Emission) {
  const attributes = {
    'rouse.subscription.id': subscription.id,
    'rouse.event.id': eventId,
    'rouse.event.count': eventCount,
    'rouse.target': subscription.kind === 'push' ? 'push' : subscription.harnessTarget,
  }
  return { name: eventType, kind: 'client', parent: traceparent, attributes } as const
}

const none: readonly Attempt[] = []

/** Returns how an emission arrived; undefined: it did not. */
export function arrivalOf({ outcome }: DeliveryResult): Arrival | undefined {
  return outcome === 'delivered' || outcome === 'written' ? outcome : undefined
}

function stopped(attempts: readonly Attempt[]): DeliveryResult {
  return { outcome: 'stopped', reason: null, attempts }
}
