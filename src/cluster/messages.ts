import { type Clock, sleep } from '../lib/clock.ts'
import type { Logger } from '../logger/logger.ts'
import type { Bus } from './bus/bus.ts'
import { decode, encode, type Message, messageBytesMax } from './message.ts'

export interface ClusterHandlers {
  grown(keys: readonly string[]): void
  changed(subscriptionIds: readonly string[]): void
  /** Keys and agents that were revoked, if the message is true: anybody on the bus may have written it. */
  revoked(ids: readonly string[]): void
  /** A subscription is due. */
  due(): void
  /** Messages may have been lost: look everywhere. */
  missed(): void
}

/** How often the gateway tests the bus with a message to itself. What a lost message announced is found after this time at the latest. */
const sweepMs = 5_000
const changedPerMessage = 100
const revokedPerMessage = 40

/**
 * Notifies the peers of changes on this gateway, and calls handlers for what they report. Notifications that come while a message
 * is being sent are collected for the next one, so the bus carries one message at a time however many commits there are.
 */
export class ClusterMessages implements AsyncDisposable {
  readonly #bus: Bus
  readonly #id: string
  readonly #clock: Clock
  readonly #log: Logger
  readonly #handlers: ClusterHandlers
  readonly #stopping = new AbortController()
  #grown = new Set<string>()
  #changed = new Set<string>()
  #revoked = new Set<string>()
  #isDue = false
  #sending: Promise<void> | undefined
  #sweeping: Promise<void> | undefined
  #receivedOwn = false
  #isLost = false

  constructor(bus: Bus, id: string, handlers: ClusterHandlers, clock: Clock, log: Logger) {
    this.#bus = bus
    this.#id = id
    this.#handlers = handlers
    this.#clock = clock
    this.#log = log
  }

  start(): void {
    this.#sweeping ??= this.#sweep(this.#bus.start((message) => this.#receive(message)))
  }

  /** True when the last test message came through. */
  get isAlive(): boolean {
    return !this.#isLost
  }

  grown(keys: Iterable<string>): void {
    for (const key of keys) this.#grown.add(key)
    this.#send()
  }

  changed(subscriptionId: string): void {
    this.#changed.add(subscriptionId)
    this.#send()
  }

  revoked(ids: readonly string[]): void {
    for (const id of ids) this.#revoked.add(id)
    this.#send()
  }

  due(): void {
    this.#isDue = true
    this.#send()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#sweeping
    await this.#sending
    await this.#bus[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #send(): void {
    this.#sending ??= this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    // All commits of this iteration of the event loop share one message.
    await new Promise(setImmediate)
    try {
      while (this.#grown.size + this.#changed.size + this.#revoked.size > 0 || this.#isDue)
        await this.#bus.publish(this.#take())
    } catch (error) {
      // The receivers' own sweeps find it later.
      this.#log.debug({ err: error }, 'bus.message_lost')
    } finally {
      this.#sending = undefined
    }
  }

  #take(): string {
    const changed = takeSome(this.#changed, changedPerMessage)
    const revoked = takeSome(this.#revoked, revokedPerMessage)
    const grown = [...this.#grown]
    this.#grown = new Set()
    const due = this.#isDue
    this.#isDue = false
    const message = encode({ from: this.#id, grown, changed, revoked, due })
    if (Buffer.byteLength(message) <= messageBytesMax) return message
    return encode({ from: this.#id, grown: null, changed, revoked, due })
  }

  /** Never throws: a client library calls it while it reads its connection. */
  #receive(text: string): void {
    const message = decode(text)
    if (!message) {
      this.#log.debug({ length: text.length }, 'bus.message_refused')
      return
    }
    if (message.from === this.#id) {
      this.#receivedOwn = true
      return
    }
    try {
      this.#notify(message)
    } catch (error) {
      this.#log.error({ err: error }, 'bus.message_failed')
    }
  }

  #notify({ grown, changed, revoked, due }: Message): void {
    // Revocations first: streams under revoked keys must not see what follows.
    if (revoked.length > 0) this.#handlers.revoked(revoked)
    if (grown === null) this.#handlers.missed()
    else if (grown.length > 0) this.#handlers.grown(grown)
    if (changed.length > 0) this.#handlers.changed(changed)
    if (due) this.#handlers.due()
  }

  /** A bus that is not connected yet is not lost; one that does not connect in time is. */
  async #sweep(connected: Promise<void>): Promise<void> {
    const { signal } = this.#stopping
    if (!(await this.#connectsInTime(connected))) this.#judge(false)
    let isCut = false
    while (!signal.aborted) {
      this.#receivedOwn = false
      const isSent = await this.#bus
        .publish(encode({ from: this.#id, grown: [], changed: [], revoked: [], due: false }))
        .then(() => true)
        .catch(() => false)
      await sleep(this.#clock, sweepMs, signal)
      if (signal.aborted) return
      this.#judge(this.#receivedOwn)
      // The message after a cut may be lost before the new connection listens: that one is not cut for it.
      isCut = isSent && !this.#receivedOwn && !isCut
      if (isCut) this.#bus.reconnect()
    }
  }

  async #connectsInTime(connected: Promise<void>): Promise<boolean> {
    const patience = new AbortController()
    const late = sleep(this.#clock, sweepMs, AbortSignal.any([this.#stopping.signal, patience.signal])).then(
      () => false,
    )
    const inTime = await Promise.race([connected.then(() => true), late])
    patience.abort()
    return inTime || this.#stopping.signal.aborted
  }

  #judge(isHeard: boolean): void {
    const wasLost = this.#isLost
    this.#isLost = !isHeard
    if (this.#isLost && !wasLost) this.#log.warn({ reason: this.#bus.failure }, 'bus.lost')
    if (!this.#isLost && wasLost) this.#log.warn({}, 'bus.recovered')
    if (this.#isLost || wasLost) this.#handlers.missed()
  }
}

function takeSome(ids: Set<string>, count: number): string[] {
  const some = [...ids].slice(0, count)
  for (const id of some) ids.delete(id)
  return some
}
