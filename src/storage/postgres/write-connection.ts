import pg from 'pg'
import { silenceMs } from './connection-options.ts'
import type { Query } from './query.ts'
import { whileConnecting } from './storage-problem.ts'

/**
 * One connection for writing. It is opened when it is needed, and again after it broke. Queries are sent without waiting for
 * earlier answers; those of one iteration of the event loop are sent in one packet.
 */
export class WriteConnection {
  readonly #options: pg.ClientConfig
  readonly #onLost: () => void
  #client: pg.Client | undefined
  #unanswered = 0
  #heardAt = 0
  #corked = false
  #watch: NodeJS.Timeout | undefined

  /** `onLost` is called when the connection breaks: other connections to the same server may be dead too. */
  constructor(options: pg.ClientConfig, onLost: () => void) {
    this.#options = { ...options, pipeline: true }
    this.#onLost = onLost
  }

  get isOpen(): boolean {
    return this.#client !== undefined
  }

  /** Resolves when there is a connection. Rejects with the driver's error. */
  async open(): Promise<void> {
    if (this.#client) return
    const client = new pg.Client(this.#options)
    // The queries without an answer are rejected by the driver. Without a listener the error would be an uncaught exception.
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    await whileConnecting(client.connect())
    this.#client = client
    this.#unanswered = 0
    this.#watch = setInterval(() => this.#breakSilence(), 1_000).unref()
  }

  /** Sends a query after all earlier ones. Rejects with the driver's error. */
  query(query: Query | string): Promise<pg.QueryResult> {
    const client = this.#client
    if (!client) return Promise.reject(new Error('Connection terminated'))
    this.#cork(client)
    if (this.#unanswered++ === 0) this.#heardAt = performance.now()
    return new Promise((resolve, reject) => {
      const answered = (error: Error | null, result: pg.QueryResult): void => {
        this.#unanswered--
        this.#heardAt = performance.now()
        if (error) reject(error)
        else resolve(result)
      }
      if (typeof query === 'string') client.query(query, answered)
      else client.query(query, answered)
    })
  }

  /** Destroys the connection. Queries without an answer are rejected. */
  discard(): void {
    const client = this.#client
    if (!client) return
    client.connection.stream.destroy()
    this.#lost(client)
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    clearInterval(this.#watch)
    await client?.end()
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    clearInterval(this.#watch)
    this.#onLost()
  }

  #cork({ connection: { stream } }: pg.Client): void {
    if (this.#corked) return
    this.#corked = true
    stream.cork()
    setImmediate(() => {
      this.#corked = false
      stream.uncork()
    })
  }

  /** While the network is broken, the server does not answer, and the connection does not close. */
  #breakSilence(): void {
    if (this.#unanswered > 0 && performance.now() - this.#heardAt > silenceMs) this.discard()
  }
}
