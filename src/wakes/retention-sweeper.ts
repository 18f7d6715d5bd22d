import { type Clock, sleep } from '../lib/clock.ts'
import { pruneEvents } from '../log/retention.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../storage/database.ts'
import { pruneDeliveries } from './delivery-store.ts'

const sweepMs = 60_000

/** How long things are kept, in milliseconds; 0 is for ever. */
export interface Retention {
  readonly eventsMs: number
  readonly deliveriesMs: number
}

interface RetentionContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
  readonly retention: Retention
}

/** Takes away the events of the log, and the records of deliveries, that are older than they are kept. */
export class RetentionSweeper implements AsyncDisposable {
  readonly #context: RetentionContext
  readonly #stopping = new AbortController()
  #loop: Promise<void> | undefined

  constructor(context: RetentionContext) {
    this.#context = context
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** One pass. Answers how many events and how many deliveries went. */
  async runOnce(): Promise<{ events: number; deliveries: number }> {
    const { db, clock, retention } = this.#context
    const { signal } = this.#stopping
    const now = clock.now()
    const events = retention.eventsMs > 0 ? await pruneEvents(db, now - retention.eventsMs, signal) : 0
    const deliveries = retention.deliveriesMs > 0 ? await pruneDeliveries(db, now - retention.deliveriesMs, signal) : 0
    return { events, deliveries }
  }

  // The first pass comes a minute after the start: what a gateway that was down for long still has to send goes out before it.
  async #run(): Promise<void> {
    const { clock, log } = this.#context
    const { signal } = this.#stopping
    for (;;) {
      await sleep(clock, sweepMs, signal)
      if (signal.aborted) return
      try {
        const { events, deliveries } = await this.runOnce()
        if (events + deliveries > 0) log.info({ events, deliveries }, 'retention.pruned')
      } catch (error) {
        log.error({ err: error }, 'retention.sweep_failed')
      }
    }
  }
}
