import { type Clock, sleep } from '../lib/clock.ts'
import { pruneEvents } from '../log/retention.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../storage/database.ts'
import { pruneDeliveries } from './delivery-store.ts'
import { pruneHeld } from './held-store.ts'

const sweepMs = 60_000

/** How long things are kept, in milliseconds; 0 is for ever. */
export interface Retention {
  readonly eventsMs: number
  readonly deliveriesMs: number
  readonly messagesMs: number
}

interface RetentionContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
  readonly retention: Retention
  /** Whether this gateway is the one to sweep. */
  readonly isTurn?: (name: string) => Promise<boolean>
  /** Takes away the mail that is older than it is kept, and answers how much. */
  readonly pruneMessages?: (now: number, retentionMs: number, signal: AbortSignal) => Promise<number>
}

/** Takes away the events of the log, the records of deliveries, and the mail, that are older than they are kept. */
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

  /** One pass. Answers how many events, deliveries and messages went. */
  async runOnce(): Promise<{ events: number; deliveries: number; messages: number }> {
    const { db, clock, retention, pruneMessages } = this.#context
    const { signal } = this.#stopping
    const now = clock.now()
    const events = retention.eventsMs > 0 ? await pruneEvents(db, now - retention.eventsMs, signal) : 0
    if (retention.eventsMs > 0) await pruneHeld(db, now - retention.eventsMs, signal)
    const deliveries = retention.deliveriesMs > 0 ? await pruneDeliveries(db, now - retention.deliveriesMs, signal) : 0
    const messages = (await pruneMessages?.(now, retention.messagesMs, signal)) ?? 0
    return { events, deliveries, messages }
  }

  // The first pass comes a minute after the start: what a gateway that was down for long still has to send goes out before it.
  async #run(): Promise<void> {
    const { clock, log, isTurn } = this.#context
    const { signal } = this.#stopping
    for (;;) {
      await sleep(clock, sweepMs, signal)
      if (signal.aborted) return
      try {
        if (isTurn && !(await isTurn('retention'))) continue
        const { events, deliveries, messages } = await this.runOnce()
        if (events + deliveries + messages > 0) log.info({ events, deliveries, messages }, 'retention.pruned')
      } catch (error) {
        log.error({ err: error }, 'retention.sweep_failed')
      }
    }
  }
}
