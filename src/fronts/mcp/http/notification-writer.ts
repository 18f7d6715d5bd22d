import type { McpSession } from '../../../mcp-sessions/mcp-session.ts'
import type { EventStream } from '../../http/sse.ts'
import { wakeSubstrate } from './capabilities.ts'
import { keptWakes, positionId, type StreamPosition, wakeName } from './stream-position.ts'

/** The first protocol version whose clients read an event without data. */
const emptyEventsFrom = '2025-11-25'

type Positions = readonly (readonly [subscriptionId: string, logId: number])[]

/** Writes notifications to a session's stream, each with the position of its reader as its id. */
export class NotificationWriter {
  readonly #stream: EventStream
  #wakes: Map<string, number>
  /** The names of the subscriptions that the stream reads now. */
  #read: ReadonlySet<string> = new Set()
  #session: McpSession
  #resources: ReadonlySet<string>
  /** Up to where the reader knows of changed resources. */
  #head: number
  /** Up to where changes are known here. */
  #latest: number
  #hasCaughtUp = false

  /**
   * @param head the end of the caller's log
   * @param from the position of a reader that reconnects: it is there until it has caught up
   */
  constructor(stream: EventStream, session: McpSession, head: number, from?: StreamPosition) {
    this.#stream = stream
    this.#session = session
    this.#resources = new Set(session.resources)
    this.#head = from?.head ?? head
    this.#latest = head
    this.#wakes = new Map(from?.wakes)
  }

  /** Begins the stream. A client that is disconnected comes back after `retryMs`, with the id that it got here if it got no other. */
  begin(retryMs: number): void {
    const { protocolVersion } = this.#session
    const first = protocolVersion >= emptyEventsFrom ? `id: ${this.#id}\nretry: ${retryMs}\ndata: \n\n` : undefined
    this.#stream.write(first ?? `retry: ${retryMs}\n: connected\n\n`)
  }

  /** Notes of each subscription up to where its wakes were written before. */
  knows(positions: Positions): void {
    this.#wakes = new Map(positions.map(([id, logId]) => [wakeName(id), logId]))
  }

  /**
   * Notes what the stream reads from now on. Of those that are new to it: up to where the wakes of each were written before. Of those that
   * it no longer reads it keeps as many as there is room for.
   */
  reads(subscriptionIds: readonly string[], positions: Positions): void {
    this.#read = new Set(subscriptionIds.map(wakeName))
    for (const [id, logId] of positions) {
      const name = wakeName(id)
      if (!this.#wakes.has(name)) this.#wakes.set(name, logId)
    }
    this.#wakes = keptWakes(this.#wakes, this.#read)
  }

  /** Notes that the reader gets everything that it missed: from the next event on it is at the end of the log. */
  catchUp(): void {
    this.#hasCaughtUp = true
    this.#head = this.#latest
  }

  /** Takes what the session has changed. */
  update(session: McpSession): void {
    this.#session = session
    this.#resources = new Set(session.resources)
  }

  /** Returns those of changed resources that the session is subscribed to. `logId`: of the last event that changed one. */
  subscribed(uris: readonly string[], logId: number): string[] {
    this.#latest = Math.max(this.#latest, logId)
    if (this.#hasCaughtUp) this.#head = this.#latest
    return uris.filter((uri) => this.#resources.has(uri))
  }

  /** Notifies that a resource has changed. */
  updated(uri: string): void {
    this.#write({ method: 'notifications/resources/updated', params: { uri } })
  }

  /** Writes a wake. Resolves with whether the connection took the bytes. Source: S1-22. */
  async wake(body: string, signal: AbortSignal): Promise<boolean> {
    const data = JSON.parse(body) as { readonly subscriptionId: string; readonly logId: number }
    const name = wakeName(data.subscriptionId)
    this.#wakes.set(name, Math.max(data.logId, this.#wakes.get(name) ?? 0))
    this.#wakes = keptWakes(this.#wakes, this.#read)
    this.#write({ method: 'notifications/message', params: { level: 'info', logger: wakeSubstrate, data } })
    await this.#stream.taken(signal)
    return !signal.aborted
  }

  #write(notification: { readonly method: string; readonly params: object }): boolean {
    const data = JSON.stringify({ jsonrpc: '2.0', ...notification })
    return this.#stream.write(`event: message\nid: ${this.#id}\ndata: ${data}\n\n`)
  }

  get #id(): string {
    return positionId({ head: this.#head, wakes: this.#wakes })
  }
}
