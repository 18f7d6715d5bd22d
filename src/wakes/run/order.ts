import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Attempt, DeliveryOrder } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import type { Unfinished } from '../store/unfinished-store.ts'
import type { OrderActs } from './order-acts.ts'
import type { Slot } from './sequence.ts'

/** The order of one emission, as a channel sees it. A failure of the store stops the channel; `storeFailure` has it. */
export class Order implements DeliveryOrder {
  readonly emission: Emission
  readonly attempts: readonly Attempt[]
  storeFailure: { readonly error: unknown } | undefined
  readonly #acts: OrderActs
  readonly #unfinished: Unfinished
  readonly #slot: Slot | undefined

  constructor(acts: OrderActs, unfinished: Unfinished, attempts: readonly Attempt[], slot: Slot | undefined) {
    this.emission = unfinished.emission
    this.attempts = attempts
    this.#acts = acts
    this.#unfinished = unfinished
    this.#slot = slot
  }

  get subscription(): Subscription {
    return this.#acts.run.subscription
  }

  get agentIdentity(): string {
    return this.#acts.run.identity
  }

  get signal(): AbortSignal {
    return this.#acts.run.signal
  }

  keep(attempts: readonly Attempt[]): Promise<boolean> {
    return this.#orStop(this.#acts.keepInOrder(this.#unfinished, attempts, this.#slot), false)
  }

  waitFor<Value>(value: Promise<Value>): Promise<Value | undefined> {
    return this.#orStop(this.#acts.waitFor(value), undefined)
  }

  retryAt(attempts: readonly Attempt[], at: number): Promise<boolean> {
    return this.#orStop(this.#acts.retryAt(this.emission, attempts, at), false)
  }

  idle(wait: Promise<unknown>): Promise<boolean> {
    return this.#orStop(this.#acts.idle(wait), false)
  }

  #orStop<Result>(act: Promise<Result>, stop: Result): Promise<Result> {
    return act.catch((error) => {
      this.storeFailure = { error }
      return stop
    })
  }
}
