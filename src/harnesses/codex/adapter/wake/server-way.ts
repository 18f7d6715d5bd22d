import type { AppServer, TurnsLook } from '../app-server.ts'
import type { ServerMessage } from '../rpc/connection.ts'
import { ConnectionLost, refusalOf } from '../rpc/refusals.ts'
import { isLoaded, stateOf } from '../thread.ts'
import { anyOf } from './pause.ts'
import { findIn, type WakePlace } from './seen.ts'
import type { WakeTimes } from './verdict.ts'
import type { Way, WayOptions } from './way.ts'

/** The messages after which a look is worth it. */
const telling = /^(thread\/(queue|status)\/changed|thread\/closed|turn\/(started|completed))$/

/**
 * The way through the server that has the thread loaded. It does not subscribe to the thread: that would keep the thread loaded after its
 * user has closed it. The server sends the state of each thread to every client; the rest is looked up. Disposing it closes the connection.
 */
export class ServerWay implements Way {
  readonly name = 'app-server'
  readonly #server: AppServer
  readonly #threadId: string
  readonly #label: string
  readonly #times: WakeTimes
  readonly #turns: TurnsLook
  readonly #stopListening: () => void
  #turnId: string | undefined
  #changed: () => void = () => {}
  #hasChanged = false

  constructor(server: AppServer, { threadId, label, times, turns }: WayOptions) {
    this.#server = server
    this.#threadId = threadId
    this.#label = label
    this.#times = times
    this.#turns = turns
    this.#stopListening = server.connection.listen((said) => this.#hear(said))
    void server.connection.closed.then(() => this.#note())
  }

  async look(): Promise<WakePlace> {
    const thread = await this.#server.readThread(this.#threadId)
    if (!thread || !isLoaded(thread.status)) throw new ConnectionLost('the server has the thread no more')
    const state = stateOf(thread.status)
    if (this.#turnId !== undefined) return { turnId: this.#turnId, state }
    const queue = await this.#server.queued(this.#threadId)
    const isQueued = findIn(this.#label, queue, []).queuedId !== undefined
    const turns = isQueued ? [] : await this.#server.turns(this.#threadId, this.#turns)
    return { ...findIn(this.#label, queue, turns), state }
  }

  async enqueue(text: string): Promise<void> {
    await this.#server.enqueue(this.#threadId, text, this.#label)
  }

  async steer(text: string): Promise<boolean> {
    const [turn] = await this.#server.turns(this.#threadId, { limit: 1, itemsView: 'summary' })
    if (turn?.status !== 'inProgress') return false
    try {
      await this.#server.steer(this.#threadId, turn.id, text, this.#label)
      return true
    } catch (error) {
      if (refusalOf(error) === undefined) throw error
      return false
    }
  }

  takeBack(queuedId: string): Promise<boolean> {
    return this.#server.dequeue(this.#threadId, queuedId)
  }

  intervalMs(sinceMs: number): number {
    const { serverLookMs, pausedMs } = this.#times
    return sinceMs < serverLookMs ? pausedMs / 2 : serverLookMs
  }

  async changed(maxMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#hasChanged) {
      const change = new Promise<void>((resolve) => {
        this.#changed = resolve
      })
      await anyOf(signal, [change], maxMs)
    }
    this.#hasChanged = false
  }

  #hear({ method, params, id }: ServerMessage): void {
    if (id !== undefined || params.threadId !== this.#threadId) return
    if (method === 'item/started' || method === 'item/completed') {
      const { type, clientId } = (params.item ?? {}) as { type?: unknown; clientId?: unknown }
      if (type !== 'userMessage' || clientId !== this.#label || typeof params.turnId !== 'string') return
      this.#turnId = params.turnId
      this.#note()
    } else if (telling.test(method)) this.#note()
  }

  #note(): void {
    this.#hasChanged = true
    this.#changed()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening()
    await this.#server[Symbol.asyncDispose]()
  }
}
