import { type Clock, sleep } from '../lib/clock.ts'
import type { Logger } from '../logger.ts'
import { type Bus, messageBytesMax } from './bus.ts'

/** What one gateway tells the others. */
interface Message {
  readonly from: string
  /** Projects and tasks whose log has grown; null: more than fit, look everywhere. */
  readonly grown: readonly string[] | null
  /** Subscriptions that were changed: whoever sends for one stops. */
  readonly changed: readonly string[]
  /** Set where something is due, for whoever has time. */
  readonly due?: true
}

export interface NudgeHandlers {
  grown(keys: readonly string[]): void
  changed(subscriptionIds: readonly string[]): void
  /** Something fell due. */
  due(): void
  /** Messages may have been lost: look everywhere. */
  missed(): void
}

/** How often the bus is tried by a message to oneself; what a lost nudge left behind is found as late as this. */
const sweepMs = 5_000
const changedPerMessage = 100

/**
 * Tells the other gateways what has happened here, and hears what happened there. What is told while a message is on its
 * way travels in the next one, so that the bus sees one message at a time however many commits there are.
 */
export class Nudges implements AsyncDisposable {
  readonly #bus: Bus
  readonly #id: string
  readonly #clock: Clock
  readonly #log: Logger
  readonly #handlers: NudgeHandlers
  readonly #stopping = new AbortController()
  #grown = new Set<string>()
  #changed = new Set<string>()
  #isDue = false
  #sending: Promise<void> | undefined
  #sweeping: Promise<void> | undefined
  #heardMyself = false
  #isLost = false

  constructor(bus: Bus, id: string, handlers: NudgeHandlers, clock: Clock, log: Logger) {
    this.#bus = bus
    this.#id = id
    this.#handlers = handlers
    this.#clock = clock
    this.#log = log
  }

  start(): void {
    this.#bus.start((message) => this.#hear(message))
    this.#sweeping ??= this.#sweep()
  }

  /** Whether messages came through at the last trial. */
  get isAlive(): boolean {
    return !this.#isLost
  }

  grew(keys: Iterable<string>): void {
    for (const key of keys) this.#grown.add(key)
    this.#send()
  }

  changed(subscriptionId: string): void {
    this.#changed.add(subscriptionId)
    this.#send()
  }

  fellDue(): void {
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
    // Every commit of this turn travels together.
    await new Promise(setImmediate)
    try {
      while (this.#grown.size + this.#changed.size > 0 || this.#isDue) await this.#bus.publish(this.#take())
    } catch (error) {
      // The sweep of those who did not hear it finds it, later.
      this.#log.debug({ err: error }, 'bus.nudge_lost')
    } finally {
      this.#sending = undefined
    }
  }

  #take(): string {
    const changed = [...this.#changed].slice(0, changedPerMessage)
    for (const id of changed) this.#changed.delete(id)
    const grown = [...this.#grown]
    this.#grown = new Set()
    const due = this.#isDue ? ({ due: true } as const) : {}
    this.#isDue = false
    const message = encode({ from: this.#id, grown, changed, ...due })
    if (Buffer.byteLength(message) <= messageBytesMax) return message
    return encode({ from: this.#id, grown: null, changed, ...due })
  }

  #hear(text: string): void {
    const message = decode(text)
    if (!message) return
    if (message.from === this.#id) {
      this.#heardMyself = true
      return
    }
    if (message.grown === null) this.#handlers.missed()
    else if (message.grown.length > 0) this.#handlers.grown(message.grown)
    if (message.changed.length > 0) this.#handlers.changed(message.changed)
    if (message.due) this.#handlers.due()
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#heardMyself = false
      await this.#bus.publish(encode({ from: this.#id, grown: [], changed: [] })).catch(() => {})
      await sleep(this.#clock, sweepMs, signal)
      if (signal.aborted) return
      const wasLost = this.#isLost
      this.#isLost = !this.#heardMyself
      if (this.#isLost !== wasLost) this.#log.warn({}, this.#isLost ? 'bus.lost' : 'bus.back')
      if (this.#isLost || wasLost) this.#handlers.missed()
    }
  }
}

const encode = (message: Message): string => JSON.stringify(message)

/** Undefined for what is not ours: a bus may be shared. */
function decode(text: string): Message | undefined {
  try {
    const message = JSON.parse(text) as Message
    return typeof message.from === 'string' && Array.isArray(message.changed) ? message : undefined
  } catch {
    return undefined
  }
}
