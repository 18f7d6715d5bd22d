import { Redis } from 'ioredis'
import type { Logger } from '../../logger/logger.ts'
import { type Bus, busFailure } from './bus.ts'

const reconnectMaxMs = 2_000
/** A client reports its failures as events. */
const ignored = (): void => {}

/** Redis pub/sub. Redis does not store messages: a gateway that is not connected misses them. */
export class RedisBus implements Bus {
  readonly #channel: string
  readonly #publisher: Redis
  readonly #subscriber: Redis
  failure = busFailure('ROUSE_BUS_URL')

  /** `url`: redis:// or rediss://. Nothing is sent before `start`. */
  constructor(url: string, channel: string, log: Logger) {
    this.#channel = channel
    const connection = (role: string): Redis => {
      const redis = new Redis(url, {
        lazyConnect: true,
        connectionName: `rouse ${role}`,
        connectTimeout: 5_000,
        commandTimeout: 5_000,
        // A message that waited for the connection would come later than the sweep that finds the same.
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        // Its own renewal of subscriptions catches no failure: a connection that is lost again would end everything.
        autoResubscribe: false,
        retryStrategy: (tries) => Math.min(reconnectMaxMs, tries * 100),
      })
      redis.on('error', (error) => {
        this.failure = busFailure('ROUSE_BUS_URL', error)
        log.debug({ err: error }, 'bus.disconnected')
      })
      return redis
    }
    this.#publisher = connection('publisher')
    this.#subscriber = connection('subscriber')
  }

  async start(onMessage: (message: string) => void): Promise<void> {
    this.#subscriber.on('message', (_channel, message) => onMessage(message))
    const heard = new Promise<void>((resolve) => {
      this.#subscriber.on('ready', () => this.#subscriber.subscribe(this.#channel).then(() => resolve(), ignored))
    })
    const speaks = new Promise<void>((resolve) => this.#publisher.once('ready', () => resolve()))
    for (const redis of [this.#publisher, this.#subscriber]) redis.connect().catch(ignored)
    await Promise.all([heard, speaks])
  }

  async publish(message: string): Promise<void> {
    try {
      await this.#publisher.publish(this.#channel, message)
    } catch (error) {
      if (this.#publisher.status === 'ready') this.#publisher.disconnect(true)
      throw error
    }
  }

  reconnect(): void {
    this.#subscriber.disconnect(true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#publisher.disconnect()
    this.#subscriber.disconnect()
  }
}
