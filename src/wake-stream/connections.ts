import { newUlid } from '../lib/ids.ts'
import type { Sweep } from '../lib/sweeper.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { StreamCapability } from '../registry/subscriptions/stream-capabilities.ts'
import type { Subscription, WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { findSubscription } from '../registry/subscriptions/subscription-store.ts'
import type { ConnectingTarget } from '../registry/subscriptions/targets.ts'
import { connectSubscriptions, disconnectSubscription } from './connect.ts'
import type { WakeStreamContext } from './context.ts'
import { type StreamReader, WakeStream } from './wake-stream.ts'

/** A reader that is connected: nothing is written to it before `begin`. */
export interface Connection extends AsyncDisposable {
  begin(): void
}

/** How often all open streams are compared with the store. */
const checkMs = 30_000

/** Connects readers to their subscriptions, here and in the store. */
export class StreamConnections implements AsyncDisposable {
  readonly #context: WakeStreamContext
  readonly #ending = new Set<Promise<unknown>>()
  /** Subscriptions whose stream has ended, which the store did not take: the stream of each. */
  readonly #unrecorded = new Map<string, string>()

  constructor(context: WakeStreamContext) {
    this.#context = context
  }

  /**
   * Connects a reader to subscriptions: the newest stream has them. Those that waited become active, and send one digest of what
   * gathered. `capabilities`: what the reader can do. Disposing the connection ends it. Errors: `subscription-not-found`, `forbidden`, `invalid-request` for another target.
   */
  async connect(
    caller: Caller,
    subscriptionIds: readonly string[],
    capabilities: readonly StreamCapability[],
    reader: StreamReader,
  ): Promise<Connection> {
    const { clock, gatewayId, streams } = this.#context
    const stream = new WakeStream(newUlid(clock.now()), caller.id, subscriptionIds, reader, capabilities)
    await connectSubscriptions(this.#context, caller, subscriptionIds, { streamId: stream.id, gatewayId, capabilities })
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

  /** Looks whether every subscription still belongs to its stream: another gateway may have taken this one for dead. Records what failed. */
  readonly sweep: Sweep = {
    name: 'wake_streams',
    everyMs: checkMs,
    firstAfterMs: checkMs,
    run: async (signal) => {
      for (const [id, streamId] of [...this.#unrecorded]) await this.#disconnect(id, streamId)
      for (const id of this.#context.streams.subscriptionIds) {
        const stream = this.#context.streams.of(id)
        if (signal.aborted) break
        if (stream) await this.#check(id, stream)
      }
      return false
    },
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stream of this.#context.streams.all) await this.#end(stream)
    await Promise.all(this.#ending)
  }

  async #check(id: string, stream: WakeStream): Promise<void> {
    const { db, streams } = this.#context
    const subscription = await findSubscription(db, id)
    const { target } = this.#context
    if (belongsTo(subscription, stream, target)) return
    // No other stream has it: a reader that connects again gets what gathered.
    if (subscription?.kind === 'wake' && isForgotten(subscription, target)) return stream.end()
    const isReplaced = subscription?.kind === 'wake' && subscription.streamId !== stream.id
    streams.remove(id, stream)
    stream.release(id, isReplaced ? 'replaced' : 'changed')
    if (!isReplaced) await this.#disconnect(id, stream.id)
  }

  async #end(stream: WakeStream): Promise<void> {
    const ids = [...stream.subscriptionIds]
    this.#context.streams.close(stream)
    const ended = Promise.all(ids.map((id) => this.#disconnect(id, stream.id)))
    this.#track(ended)
    await ended.catch(() => {})
  }

  async #disconnect(id: string, streamId: string): Promise<void> {
    this.#unrecorded.set(id, streamId)
    await disconnectSubscription(this.#context, id, streamId)
    this.#unrecorded.delete(id)
  }

  /** A failure leaves the subscription connected in the store, until the next sweep or the next stream. */
  #track(work: Promise<unknown>): void {
    const tracked = work
      .catch((err: unknown) => this.#context.log.warn({ err }, 'wake_stream.not_recorded'))
      .finally(() => this.#ending.delete(tracked))
    this.#ending.add(tracked)
  }
}

/** Whether a subscription is still read as a stream, and the store knows of none. */
function isForgotten({ harnessTarget, streamId }: WakeSubscription, target: ConnectingTarget): boolean {
  return harnessTarget === target && streamId === null
}

function belongsTo(subscription: Subscription | undefined, stream: WakeStream, target: ConnectingTarget): boolean {
  if (subscription?.kind !== 'wake') return false
  return subscription.streamId === stream.id && subscription.harnessTarget === target
}
