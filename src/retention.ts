import type { Clock } from './lib/clock.ts'
import { Sweeper } from './lib/sweeper.ts'
import { pruneEvents } from './log/prune-events.ts'
import type { Logger } from './logger.ts'
import { pruneIdempotencyKeys } from './registry/idempotency.ts'
import type { Database } from './storage/database.ts'
import { pruneDeliveries } from './wakes/store/delivery-store.ts'
import { pruneHeld } from './wakes/store/held-store.ts'

const sweepMs = 60_000

/** How long things are kept, in milliseconds. 0: for ever. */
export interface Retention {
  readonly eventsMs: number
  readonly deliveriesMs: number
  readonly messagesMs: number
  readonly auditMs: number
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
  /** Takes away the audit's records from before an instant, and returns how many. */
  readonly pruneAudit?: (db: Database, before: number, signal: AbortSignal) => Promise<number>
}

/** Takes away the events of the log, the records of deliveries and of the audit, and the mail, that are older than they are kept. */
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

  /** One pass. Answers how many of each went. */
  async runOnce(): Promise<{ events: number; deliveries: number; messages: number; audit: number }> {
    const { db, clock, retention, pruneMessages, pruneAudit } = this.#context
    const { signal } = this
    const now = clock.now()
    const events = retention.eventsMs > 0 ? await pruneEvents(db, now - retention.eventsMs, signal) : 0
    if (retention.eventsMs > 0) await pruneHeld(db, now - retention.eventsMs, signal)
    const deliveries = retention.deliveriesMs > 0 ? await pruneDeliveries(db, now - retention.deliveriesMs, signal) : 0
    await pruneIdempotencyKeys(db, now, signal)
    const messages = (await pruneMessages?.(now, retention.messagesMs, signal)) ?? 0
    const audit = retention.auditMs > 0 ? ((await pruneAudit?.(db, now - retention.auditMs, signal)) ?? 0) : 0
    return { events, deliveries, messages, audit }
  }

  protected async sweep(): Promise<boolean> {
    const pruned = await this.runOnce()
    if (Object.values(pruned).some((count) => count > 0)) this.#context.log.info(pruned, 'retention.pruned')
    return false
  }
}
