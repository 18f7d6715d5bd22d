import type { DeliveryResult } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import type { Sender } from './sender.ts'

interface InFlight {
  readonly emission: Emission
  readonly cursorLogId: number
  readonly result: Promise<DeliveryResult>
}

/**
 * Emissions of one subscription that are in flight: begun in order, finished in order. What follows from one is decided when
 * all before it are, so that the cursor moves along what was acknowledged without a hole.
 */
export class Lane {
  readonly #sender: Sender
  readonly #inFlight: InFlight[] = []

  constructor(sender: Sender) {
    this.#sender = sender
  }

  get length(): number {
    return this.#inFlight.length
  }

  start(emission: Emission, cursorLogId: number): void {
    const result = this.#sender.start(emission)
    result.catch(() => {}) // told when its turn comes
    this.#inFlight.push({ emission, cursorLogId, result })
  }

  /** False: the lease has ended. */
  async finishOldest(): Promise<boolean> {
    const oldest = this.#inFlight[0]!
    const result = await oldest.result
    this.#inFlight.shift()
    return this.#sender.finish(oldest.emission, oldest.cursorLogId, result)
  }

  /** Resolves with true when the oldest can be finished without waiting. */
  async oldestSettled(): Promise<true> {
    await this.#inFlight[0]?.result.catch(() => {})
    return true
  }

  /** Waits for what is still in flight when the lease has ended: it is decided by whoever leases next. */
  async abandoned(): Promise<void> {
    await Promise.allSettled(this.#inFlight.map(({ result }) => result))
  }
}
