import type { DeliveryResult } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { arrivalOf, type Sender } from './sender.ts'

interface EmissionInFlight {
  readonly emission: Emission
  readonly cursorLogId: number
  readonly result: Promise<DeliveryResult>
}

/**
 * The emissions of one run that are in flight: started in order, finished in order. The result of an emission is applied only after those of
 * all earlier ones, so that the cursor never passes an event that is still open.
 */
export class InFlight {
  readonly #sender: Sender
  readonly #started: EmissionInFlight[] = []
  /** True while nothing is left open before those in flight. */
  #isInOrder = true

  constructor(sender: Sender) {
    this.#sender = sender
  }

  get count(): number {
    return this.#started.length
  }

  start(emission: Emission, cursorLogId: number): void {
    const result = this.#sender.start(emission, cursorLogId)
    result.catch(() => {}) // finishOldest() rejects with it
    this.#started.push({ emission, cursorLogId, result })
  }

  /** Waits for the oldest and writes what follows from it. Returns false when the lease has ended. */
  async finishOldest(): Promise<boolean> {
    const oldest = this.#started[0]!
    const result = await oldest.result
    this.#started.shift()
    const goesOn = await this.#sender.finish(oldest.emission, oldest.cursorLogId, result)
    this.#isInOrder = goesOn || arrivalOf(result) !== undefined
    return goesOn
  }

  /** Resolves with true when the oldest can be finished without a wait. */
  async oldestSettled(): Promise<true> {
    await this.#started[0]?.result.catch(() => {})
    return true
  }

  /**
   * Waits for the emissions that are still in flight after the lease has ended, and records those that arrive before one that does not.
   * The next lease decides about the others.
   */
  async allSettled(): Promise<void> {
    for (const { emission, cursorLogId, result } of this.#started.splice(0)) {
      const settled = await result.catch(() => undefined)
      this.#isInOrder &&= settled !== undefined && arrivalOf(settled) !== undefined
      if (settled && this.#isInOrder) await this.#sender.finish(emission, cursorLogId, settled)
    }
  }
}
