import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Io } from '../../client/io.ts'
import { BackOff } from '../../lib/back-off.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { OutgoingWake } from '../adapter.ts'
import { connectToBridge } from './call-bridge.ts'
import { LineSplitter } from './line-splitter.ts'
import type { ClientMessage, MessageOf } from './messages.ts'
import { type BridgeMessage, lineOf, localLimits } from './protocol.ts'

interface AttachOptions {
  readonly env: Io['env']
  /** Its description of itself. */
  readonly client: Omit<MessageOf<'attach'>, 'type' | 'instance'>
  /** Takes a wake, once for each id: it resolves when the wake will not be lost. Errors: it is not taken. */
  readonly take: (wake: OutgoingWake) => void | Promise<void>
  /** Called when the bridge has the answer that the wake was taken. */
  readonly onTaken?: (wake: OutgoingWake) => void
  /** Ends it, when every message is written. */
  readonly signal: AbortSignal
  readonly clock?: Clock
}

/** Pauses between tries to reach a bridge that does not run. A user who starts one waits for it. */
const pauseMs = { first: 200, max: 5_000 } as const
const rememberedMax = 1_000

/** A program inside a harness that takes wakes for one conversation, from whichever bridge of its user runs. */
export class BridgeAttachment {
  /** Resolves when its signal has aborted and its connection is closed. */
  readonly ended: Promise<void>
  readonly #options: AttachOptions
  readonly #clock: Clock
  readonly #taken = new Map<string, Promise<void>>()
  #hasForgotten = false
  #client: Omit<MessageOf<'attach'>, 'type'>
  #socket: Socket | undefined
  #isAttached = false
  /** The bridge reads what is sent from now on after the `attach`. */
  #hasSaidAttach = false

  constructor(options: AttachOptions) {
    this.#options = options
    this.#client = { ...options.client, instance: randomBytes(8).toString('hex') }
    this.#clock = options.clock ?? systemClock
    this.ended = this.#run()
  }

  /** True when a bridge knows of it now. */
  get isAttached(): boolean {
    return this.#isAttached
  }

  /** Reports changes; a bridge that connects later gets them too. */
  change(changes: Omit<MessageOf<'change'>, 'type'>): void {
    const merged = Object.entries({ ...this.#client, ...changes }).filter(([, value]) => value !== null)
    this.#client = Object.fromEntries(merged) as Omit<MessageOf<'attach'>, 'type'>
    if (this.#hasSaidAttach) this.#say({ type: 'change', ...changes })
  }

  /** Reports what became of a wake, where a bridge runs. */
  report(report: Omit<MessageOf<'report'>, 'type'>): void {
    if (this.#hasSaidAttach) this.#say({ type: 'report', ...report })
  }

  async #run(): Promise<void> {
    const { signal } = this.#options
    const backOff = new BackOff(pauseMs)
    while (!signal.aborted) {
      const wasAttached = await this.#connection()
      if (signal.aborted) return
      if (wasAttached) backOff.reset()
      await backOff.pause(signal, this.#clock)
    }
  }

  /** One connection, to its end. Resolves with whether the bridge has taken it on. */
  #connection(): Promise<boolean> {
    const { env, signal } = this.#options
    const socket = connectToBridge(env)
    if (socket === undefined) return Promise.resolve(false)
    return new Promise((resolve) => {
      const lines = new LineSplitter(localLimits.lineBytes)
      let wasAttached = false
      let cancelSilence = () => {}
      const close = () => socket.destroy()
      const end = () => socket.destroySoon()
      const listenOn = () => {
        cancelSilence()
        cancelSilence = this.#clock.after(localLimits.silenceMs, close)
      }
      listenOn()
      signal.addEventListener('abort', end, { once: true })
      socket.on('connect', () => {
        socket.write(lineOf({ type: 'attach', ...this.#client }))
        this.#hasSaidAttach = true
      })
      // Its close follows.
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        listenOn()
        try {
          for (const line of lines.push(chunk)) {
            const message = JSON.parse(line) as BridgeMessage
            if (message.type === 'attached') wasAttached = this.#isAttached = true
            this.#act(message)
          }
        } catch {
          close()
        }
      })
      socket.on('close', () => {
        cancelSilence()
        signal.removeEventListener('abort', end)
        this.#isAttached = this.#hasSaidAttach = false
        resolve(wasAttached)
      })
      this.#socket = socket
    })
  }

  #act(message: BridgeMessage): void {
    if (message.type === 'ping') this.#say({ type: 'pong' })
    if (message.type === 'wake') void this.#take(message.wake)
    if (message.type === 'ask') this.#answer(message.wakeId)
  }

  /** A client that has forgotten some wakes reports nothing of those that it does not know. */
  #answer(wakeId: string): void {
    const hasWake = this.#taken.has(wakeId)
    if (hasWake || !this.#hasForgotten) this.#say({ type: 'answer', wakeId, hasWake })
  }

  /** A bridge that was started again sends a wake again whose answer it has not read: it gets the same answer. Never rejects. */
  async #take(wake: OutgoingWake): Promise<void> {
    const taking = this.#taken.get(wake.id) ?? Promise.resolve().then(() => this.#options.take(wake))
    this.#taken.set(wake.id, taking)
    for (const oldest of this.#taken.keys()) {
      if (this.#taken.size <= rememberedMax) break
      this.#taken.delete(oldest)
      this.#hasForgotten = true
    }
    try {
      await taking
      this.#say({ type: 'taken', wakeId: wake.id })
      this.#options.onTaken?.(wake)
    } catch (error) {
      this.#taken.delete(wake.id)
      const reason = (error instanceof Error ? error.message : String(error)).split('\n')[0]!.slice(0, 500)
      this.#say({ type: 'declined', wakeId: wake.id, reason: reason || 'no reason' })
    }
  }

  #say(message: ClientMessage): void {
    if (this.#socket?.writable) this.#socket.write(lineOf(message))
  }
}
