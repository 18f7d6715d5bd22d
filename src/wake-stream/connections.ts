import { newUlid } from '../lib/ids.ts'
import type { Sweep } from '../lib/sweeper.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { StreamCapability } from '../registry/subscriptions/stream-capabilities.ts'
import type { Subscription, WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { findSubscriptions } from '../registry/subscriptions/subscription-store.ts'
import type { StreamKey } from '../wakes/store/stream-state.ts'
import type { ConnectingTarget } from '../words/targets.ts'
import { connectSubscriptions, disconnectSubscriptions } from './connect.ts'
import type { WakeStreamContext } from './context.ts'
import { type StreamReader, WakeStream } from './wake-stream.ts'

/** A reader that is connected: nothing is written to it before `begin`. */
export interface Connection extends AsyncDisposable {
  readonly stream: WakeStream
  begin(): void
}

/** So many subscriptions are disconnected in one transaction when streams could not be recorded. */
const disconnectedAtOnce = 64

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
   * gathered. `capabilities`: what the reader can do. All are connected, or none. Disposing the connection ends it.
   * Errors: `subscription-not-found`, `forbidden`, `invalid-request` for another target.
   */
  async connect(
    caller: Caller,
    subscriptionIds: readonly string[],
    capabilities: readonly StreamCapability[],
    reader: StreamReader,
  ): Promise<Connection> {
    const key = this.#newKey(capabilities)
    await connectSubscriptions(this.#context, caller, subscriptionIds, key, 'refuse')
    return this.#connection(new WakeStream(key.streamId, caller.id, subscriptionIds, reader, capabilities))
  }

  /**
   * As above, but skips subscriptions that were removed or have another target. `connected` has the others, as they were before.
   */
  async connectFit(
    caller: Caller,
    subscriptionIds: readonly string[],
    reader: StreamReader,
  ): Promise<Connection & { readonly connected: readonly WakeSubscription[] }> {
    const key = this.#newKey([])
    const connected = await connectSubscriptions(this.#context, caller, subscriptionIds, key, 'leave-out')
    const ids = connected.map(({ id }) => id)
    return { connected, ...this.#connection(new WakeStream(key.streamId, caller.id, ids, reader)) }
  }

  /** Ends connections, all in one transaction. */
  end(connections: readonly Connection[]): Promise<void> {
    return this.#end(connections.map(({ stream }) => stream))
  }

  #newKey(capabilities: readonly StreamCapability[]): StreamKey {
    const { clock, gatewayId } = this.#context
    return { streamId: newUlid(clock.now()), gatewayId, capabilities }
  }

  #connection(stream: WakeStream): Connection {
    return {
      stream,
      begin: () => {
        this.#context.streams.open(stream)
        // One may have been changed, or taken by another stream, since it was connected in the store.
        this.check([...stream.subscriptionIds])
      },
      [Symbol.asyncDispose]: () => this.#end([stream]),
    }
  }

  /** Looks whether changed subscriptions still belong to their streams. */
  check(subscriptionIds: readonly string[]): void {
    const byStream = new Map<WakeStream, string[]>()
    for (const id of subscriptionIds) {
      const stream = this.#context.streams.of(id)
      if (stream) byStream.set(stream, [...(byStream.get(stream) ?? []), id])
    }
    for (const [stream, ids] of byStream) this.#track(this.#check(stream, ids))
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
      const left = [...this.#unrecorded]
      for (let at = 0; at < left.length; at += disconnectedAtOnce) {
        await this.#disconnect(new Map(left.slice(at, at + disconnectedAtOnce)))
      }
      for (const stream of this.#context.streams.all) {
        if (signal.aborted) break
        await this.#check(stream, [...stream.subscriptionIds])
      }
      return false
    },
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stream of this.#context.streams.all) await this.#end([stream])
    await Promise.all(this.#ending)
  }

  /** Looks at subscriptions of a stream: one that it has no more goes from it, and no longer is connected in the store. */
  async #check(stream: WakeStream, ids: readonly string[]): Promise<void> {
    const { db, streams, target } = this.#context
    const known = new Map((await findSubscriptions(db, ids)).map((one) => [one.id, one]))
    const lost = ids.filter((id) => !belongsTo(known.get(id), stream, target))
    const changed: string[] = []
    for (const id of lost) {
      const subscription = known.get(id)
      if (isForgotten(subscription, target)) continue
      const isReplaced = subscription?.kind === 'wake' && subscription.streamId !== stream.id
      streams.remove(id, stream)
      stream.release(id, isReplaced ? 'replaced' : 'changed')
      if (!isReplaced) changed.push(id)
    }
    // No other stream has it: a reader that connects again gets what gathered.
    if (lost.some((id) => isForgotten(known.get(id), target))) stream.end()
    await this.#disconnect(new Map(changed.map((id) => [id, stream.id])))
  }

  async #end(ending: readonly WakeStream[]): Promise<void> {
    const streamOf = new Map(ending.flatMap(({ id, subscriptionIds }) => [...subscriptionIds].map((one) => [one, id])))
    for (const stream of ending) this.#context.streams.close(stream)
    const ended = this.#disconnect(streamOf)
    this.#track(ended)
    await ended.catch(() => {})
  }

  /** Records that subscriptions are no longer connected to these streams. */
  async #disconnect(streamOf: ReadonlyMap<string, string>): Promise<void> {
    if (streamOf.size === 0) return
    for (const [id, streamId] of streamOf) this.#unrecorded.set(id, streamId)
    await disconnectSubscriptions(this.#context, streamOf)
    for (const [id, streamId] of streamOf) if (this.#unrecorded.get(id) === streamId) this.#unrecorded.delete(id)
  }

  /** A failure leaves the subscription connected in the store, until the next sweep or the next stream. */
  #track(work: Promise<unknown>): void {
    const tracked = work
      .catch((err: unknown) => this.#context.log.warn({ err }, 'wake_stream.not_recorded'))
      .finally(() => this.#ending.delete(tracked))
    this.#ending.add(tracked)
  }
}

/** True when a subscription is still read as a stream, and the store knows of none. */
function isForgotten(subscription: Subscription | undefined, target: ConnectingTarget): boolean {
  return subscription?.kind === 'wake' && subscription.harnessTarget === target && subscription.streamId === null
}

function belongsTo(subscription: Subscription | undefined, stream: WakeStream, target: ConnectingTarget): boolean {
  if (subscription?.kind !== 'wake') return false
  return subscription.streamId === stream.id && subscription.harnessTarget === target
}
