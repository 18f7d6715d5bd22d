import { newUlid } from '../lib/ids.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Subscription } from '../registry/subscriptions/subscription.ts'
import { findSubscription } from '../registry/subscriptions/subscription-store.ts'
import { connectSubscriptions, disconnectSubscription } from './connect.ts'
import type { WakeStreamContext } from './context.ts'
import { type StreamReader, WakeStream } from './wake-stream.ts'

/** A reader that is connected: nothing is written to it before `begin`. */
export interface Connection extends AsyncDisposable {
  begin(): void
}

/** Connects readers to their subscriptions, here and in the store. */
export class StreamConnections implements AsyncDisposable {
  readonly #context: WakeStreamContext
  readonly #ending = new Set<Promise<unknown>>()

  constructor(context: WakeStreamContext) {
    this.#context = context
  }

  /**
   * Connects a reader to subscriptions: the newest stream has them. Those that waited become active, and send one digest of what
   * gathered. Disposing the connection ends it. Errors: `subscription-not-found`, `forbidden`, `invalid-request` for another target.
   */
  async connect(
    caller: Caller,
    subscriptionIds: readonly string[],
    spawns: boolean,
    reader: StreamReader,
  ): Promise<Connection> {
    const { clock, gatewayId, streams } = this.#context
    const stream = new WakeStream(newUlid(clock.now()), caller.id, subscriptionIds, reader)
    await connectSubscriptions(this.#context, caller, subscriptionIds, { streamId: stream.id, gatewayId, spawns })
    return {
      begin: () => {
        streams.open(stream)
        // One may have been changed, or taken by another stream, since it was connected in the store.
        this.check(subscriptionIds)
      },
      [Symbol.asyncDispose]: () => this.#end(stream),
    }
  }

  /** Looks whether changed subscriptions still belong to their streams. */
  check(subscriptionIds: readonly string[]): void {
    for (const id of subscriptionIds) {
      const stream = this.#context.streams.of(id)
      if (stream) this.#track(this.#check(id, stream))
    }
  }

  /** The same for all of them: notifications may have been lost. */
  checkAll(): void {
    this.check(this.#context.streams.subscriptionIds)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stream of this.#context.streams.all) await this.#end(stream)
    await Promise.all(this.#ending)
  }

  async #check(id: string, stream: WakeStream): Promise<void> {
    const { db, streams } = this.#context
    const subscription = await findSubscription(db, id)
    if (belongsTo(subscription, stream)) return
    const isReplaced = subscription?.kind === 'wake' && subscription.streamId !== stream.id
    streams.remove(id, stream)
    stream.release(id, isReplaced ? 'replaced' : 'changed')
    if (!isReplaced) await disconnectSubscription(this.#context, id, stream.id)
  }

  async #end(stream: WakeStream): Promise<void> {
    const ids = [...stream.subscriptionIds]
    this.#context.streams.close(stream)
    const ended = Promise.all(ids.map((id) => disconnectSubscription(this.#context, id, stream.id)))
    this.#track(ended)
    await ended.catch(() => {})
  }

  /** A failure leaves the subscription connected in the store: the next stream takes it over. */
  #track(work: Promise<unknown>): void {
    const tracked = work
      .catch((err: unknown) => this.#context.log.warn({ err }, 'wake_stream.not_recorded'))
      .finally(() => this.#ending.delete(tracked))
    this.#ending.add(tracked)
  }
}

function belongsTo(subscription: Subscription | undefined, stream: WakeStream): boolean {
  if (subscription?.kind !== 'wake') return false
  return subscription.streamId === stream.id && subscription.harnessTarget === 'bridge-daemon'
}
