import { pruneAudit } from './audit/audit-store.ts'
import type { Base } from './core.ts'
import type { Sweep } from './lib/sweeper.ts'
import { pruneEvents } from './log/prune-events.ts'
import { pruneMessages } from './mailbox/retention.ts'
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

/** Removes one kind of old rows and returns how many. `keptMs` 0: the rows are kept for ever. */
interface Prune {
  readonly name: string
  readonly keptMs: (retention: Retention) => number
  readonly prune: (db: Database, now: number, keptMs: number, signal: AbortSignal) => Promise<number>
}

type PruneBefore = (db: Database, before: number, signal: AbortSignal) => Promise<number>

/** Prunes what is older than it is kept; nothing if it is kept for ever. */
const olderThan =
  (prune: PruneBefore): Prune['prune'] =>
  async (db, now, keptMs, signal) =>
    keptMs > 0 ? prune(db, now - keptMs, signal) : 0

const prunes: readonly Prune[] = [
  { name: 'events', keptMs: ({ eventsMs }) => eventsMs, prune: olderThan(pruneEvents) },
  { name: 'held', keptMs: ({ eventsMs }) => eventsMs, prune: olderThan(pruneHeld) },
  { name: 'deliveries', keptMs: ({ deliveriesMs }) => deliveriesMs, prune: olderThan(pruneDeliveries) },
  // Mail counters are pruned also where mail is kept for ever.
  { name: 'messages', keptMs: ({ messagesMs }) => messagesMs, prune: pruneMessages },
  { name: 'audit', keptMs: ({ auditMs }) => auditMs, prune: olderThan(pruneAudit) },
  { name: 'idempotencyKeys', keptMs: () => 0, prune: (db, now, _, signal) => pruneIdempotencyKeys(db, now, signal) },
]

/** Removes events, held events, deliveries, mail, audit records and idempotency keys that are older than they are kept. */
export function retentionSweep({ db, clock, log }: Base, retention: Retention): Sweep {
  return {
    name: 'retention',
    everyMs: sweepMs,
    // A gateway that was down for long first sends what is still due.
    firstAfterMs: sweepMs,
    async run(signal) {
      const now = clock.now()
      const pruned: Record<string, number> = {}
      for (const { name, keptMs, prune } of prunes) pruned[name] = await prune(db, now, keptMs(retention), signal)
      if (Object.values(pruned).some((count) => count > 0)) log.info(pruned, 'retention.pruned')
      return false
    },
  }
}
