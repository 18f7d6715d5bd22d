import { Socket } from 'node:net'
import pg from 'pg'
import { type Clock, sleep } from '../../lib/clock.ts'
import type { Logger } from '../../logger/logger.ts'
import { type Bus, busFailure } from './bus.ts'

const reconnectMs = 500
const connectTimeoutMs = 5_000
const queryTimeoutMs = 5_000

/**
 * LISTEN and NOTIFY on a separate connection, outside the transactions of the store: a NOTIFY inside one would serialise all
 * commits.
 */
export class PostgresBus implements Bus {
  readonly #url: string
  readonly #channel: string
  readonly #clock: Clock
  readonly #log: Logger
  readonly #stopping = new AbortController()
  failure = busFailure('ROUSE_DATABASE_URL')
  #client: pg.Client | undefined
  #giveUp = (): void => {}
  #loop: Promise<void> | undefined

  /** `channel`: at most 63 bytes. */
  constructor(url: string, channel: string, clock: Clock, log: Logger) {
    this.#url = url
    this.#channel = channel
    this.#clock = clock
    this.#log = log
  }

  start(onMessage: (message: string) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#loop ??= this.#run(onMessage, resolve)
    })
  }

  async publish(message: string): Promise<void> {
    if (!this.#client) throw new Error('The bus is not connected.')
    try {
      await this.#client.query('select pg_notify($1, $2)', [this.#channel, message])
    } catch (error) {
      // No answer in time: a silent connection does not end by itself.
      if (!(error instanceof pg.DatabaseError)) this.reconnect()
      throw error
    }
  }

  reconnect(): void {
    this.#giveUp()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.#giveUp()
    await this.#loop
  }

  async #run(onMessage: (message: string) => void, connected: () => void): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#listenUntilLost(onMessage, connected)
      } catch (error) {
        this.failure = busFailure('ROUSE_DATABASE_URL', error as Error)
        this.#log.debug({ err: error }, 'bus.disconnected')
      }
      await sleep(this.#clock, reconnectMs, signal)
    }
  }

  async #listenUntilLost(onMessage: (message: string) => void, connected: () => void): Promise<void> {
    const socket = new Socket()
    const client = new pg.Client({
      stream: () => socket,
      connectionString: this.#url,
      application_name: 'rouse bus',
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
    })
    const lost = new Promise<void>((resolve) => {
      client.once('end', () => resolve())
      client.on('error', () => resolve())
      this.#giveUp = resolve
    })
    try {
      await client.connect()
      client.on('notification', ({ payload }) => onMessage(payload ?? ''))
      await client.query(`listen ${client.escapeIdentifier(this.#channel)}`)
      if (this.#stopping.signal.aborted) return
      this.#client = client
      connected()
      await lost
    } finally {
      this.#client = undefined
      // Announces that it ends, and waits for no answer: there may be none.
      client.end().catch(() => {})
      socket.destroy()
    }
  }
}
