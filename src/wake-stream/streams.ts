import type { WakeStream } from './wake-stream.ts'

/** The streams of wakes that are open on this gateway, by subscription. */
export class WakeStreams {
  readonly #bySubscription = new Map<string, WakeStream>()
  readonly #byCaller = new Map<string, Set<WakeStream>>()
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
  get all(): WakeStream[] {
    return [...this.#byCaller.values()].flatMap((streams) => [...streams])
  }

  /** Returns the stream of a caller that a wake was written to, and that has no receipt of it yet. */
  withOpen(callerId: string, eventId: string): WakeStream | undefined {
    for (const stream of this.#byCaller.get(callerId) ?? []) if (stream.isOpen(eventId)) return stream
    return undefined
  }

  /** Takes a stream that begins, with all of its subscriptions. */
  open(stream: WakeStream): void {
    const ofCaller = this.#byCaller.get(stream.callerId) ?? new Set()
    this.#byCaller.set(stream.callerId, ofCaller.add(stream))
    for (const id of [...stream.subscriptionIds]) this.#put(id, stream)
  }

  /** Ends a stream: no subscription is its own any more. */
  close(stream: WakeStream): void {
    const ofCaller = this.#byCaller.get(stream.callerId)
    ofCaller?.delete(stream)
    if (ofCaller?.size === 0) this.#byCaller.delete(stream.callerId)
    for (const id of stream.subscriptionIds) this.remove(id, stream)
    stream.close()
  }

  /** Gives a subscription to a stream: an earlier one loses it. */
  #put(subscriptionId: string, stream: WakeStream): void {
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
