import type { WakeStream } from './wake-stream.ts'

/** The streams of wakes that are open on this gateway, by subscription. */
export class WakeStreams {
  readonly #bySubscription = new Map<string, WakeStream>()
  readonly #waiting = new Map<string, Set<() => void>>()

  /** Returns the stream of a subscription. */
  of(subscriptionId: string): WakeStream | undefined {
    return this.#bySubscription.get(subscriptionId)
  }

  /** The subscriptions that have a stream. */
  get subscriptionIds(): string[] {
    return [...this.#bySubscription.keys()]
  }

  /** The open streams. */
  get all(): Set<WakeStream> {
    return new Set(this.#bySubscription.values())
  }

  /** Gives a subscription to a stream: an earlier one loses it. */
  put(subscriptionId: string, stream: WakeStream): void {
    const before = this.of(subscriptionId)
    this.#bySubscription.set(subscriptionId, stream)
    before?.release(subscriptionId, 'replaced')
    for (const done of this.#waiting.get(subscriptionId) ?? []) done()
  }

  /** Takes a subscription from a stream, unless another one has it already. */
  remove(subscriptionId: string, stream: WakeStream): void {
    if (this.of(subscriptionId) === stream) this.#bySubscription.delete(subscriptionId)
  }

  /** Resolves when a subscription has a stream, or the signal aborts. */
  connected(subscriptionId: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.of(subscriptionId)) return Promise.resolve()
    const waiting = this.#waiting.get(subscriptionId) ?? new Set()
    this.#waiting.set(subscriptionId, waiting)
    return new Promise((resolve) => {
      const done = (): void => {
        waiting.delete(done)
        if (waiting.size === 0) this.#waiting.delete(subscriptionId)
        signal.removeEventListener('abort', done)
        resolve()
      }
      waiting.add(done)
      signal.addEventListener('abort', done, { once: true })
    })
  }
}
