import type { Clock } from '../lib/clock.ts'
import { Sweeper } from '../lib/sweeper.ts'
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
export class RetentionSweeper extends Sweeper {
  readonly #context: RetentionContext

  constructor(context: RetentionContext) {
    const { clock, log, isTurn } = context
    super({
      clock,
      everyMs: sweepMs,
      // What a gateway that was down for long still has to send goes out before it.
      firstAfterMs: sweepMs,
      isTurn: isTurn && (() => isTurn('retention')),
      failed: (err) => log.error({ err }, 'retention.sweep_failed'),
    })
    this.#context = context
  }

  /** One pass. Answers how many events, deliveries and messages went. */
  async runOnce(): Promise<{ events: number; deliveries: number; messages: number }> {
    const { db, clock, retention, pruneMessages } = this.#context
    const { signal } = this
    const now = clock.now()
    const events = retention.eventsMs > 0 ? await pruneEvents(db, now - retention.eventsMs, signal) : 0
    if (retention.eventsMs > 0) await pruneHeld(db, now - retention.eventsMs, signal)
    const deliveries = retention.deliveriesMs > 0 ? await pruneDeliveries(db, now - retention.deliveriesMs, signal) : 0
    const messages = (await pruneMessages?.(now, retention.messagesMs, signal)) ?? 0
    return { events, deliveries, messages }
  }

  protected async sweep(): Promise<boolean> {
    const { events, deliveries, messages } = await this.runOnce()
    if (events + deliveries + messages > 0) this.#context.log.info({ events, deliveries, messages }, 'retention.pruned')
    return false
  }
}
