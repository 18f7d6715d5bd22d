import { giveBackUsage } from '../admission/usage-store.ts'
import { pruneApprovals } from '../approvals/approval-store.ts'
import { pruneAudit } from '../audit/audit-store.ts'
import { followerKeptMs } from '../following/view.ts'
import type { Sweep } from '../lib/sweeper.ts'
import type { Base } from '../log/core.ts'
import { pruneEvents } from '../log/prune-events.ts'
import type { MailArchive } from '../mailbox/archive.ts'
import { pruneMessages } from '../mailbox/retention.ts'
import { removeExpiredCodes } from '../registry/callers/sign-in-code-store.ts'
import { pruneFollowers } from '../registry/followers/follower-store.ts'
import { pruneIdempotencyKeys } from '../registry/idempotency.ts'
import { noteOvertaken } from '../registry/subscriptions/mcp-store.ts'
import type { Database } from '../storage/database.ts'
import { pruneTurns } from '../turns/turn-store.ts'
import { pruneDeliveries } from '../wakes/store/delivery-store.ts'
import { pruneHeld } from '../wakes/store/held-store.ts'

const sweepMs = 60_000

/** How long each kind of row is kept, in milliseconds. 0: for ever. */
interface Retention {
  readonly eventsMs: number
  readonly deliveriesMs: number
  readonly messagesMs: number
  readonly auditMs: number
  /** Where mail goes that is no longer kept. undefined: nowhere. */
  readonly archive?: MailArchive | undefined
}

/** Removes old rows of one kind and returns how many. */
type Prune = (db: Database, now: number, retention: Retention, signal: AbortSignal) => Promise<number>

/** Prunes rows that are older than their retention. With the retention 0 it keeps all of them. */
const olderThan =
  (
    name: 'eventsMs' | 'deliveriesMs' | 'auditMs',
    pruneBefore: (db: Database, before: number, signal: AbortSignal) => Promise<number>,
  ): Prune =>
  async (db, now, retention, signal) =>
    retention[name] > 0 ? pruneBefore(db, now - retention[name], signal) : 0

const prunes: Readonly<Record<string, Prune>> = {
  events: olderThan('eventsMs', async (db, before, signal) => {
    const pruned = await pruneEvents(db, before, signal)
    if (pruned > 0) await noteOvertaken(db)
    return pruned
  }),
  held: olderThan('eventsMs', pruneHeld),
  deliveries: olderThan('deliveriesMs', pruneDeliveries),
  turns: olderThan('deliveriesMs', pruneTurns),
  // It also prunes the counters of mail, even if mail is kept for ever.
  messages: (db, now, { messagesMs, archive }, signal) => pruneMessages(db, now, messagesMs, signal, archive),
  audit: olderThan('auditMs', pruneAudit),
  approvals: olderThan('auditMs', pruneApprovals),
  // These have a fixed lifetime of their own.
  idempotencyKeys: (db, now, _retention, signal) => pruneIdempotencyKeys(db, now, signal, giveBackUsage),
  signInCodes: removeExpiredCodes,
  followers: (db, now, _retention, signal) => pruneFollowers(db, now - followerKeptMs, signal),
}

/** Removes events, held events, deliveries, turns, mail, audit records, approvals, idempotency keys, sign-in codes and followers after their retention. */
export function retentionSweep({ db, clock, log }: Base, retention: Retention): Sweep {
  return {
    name: 'retention',
    everyMs: sweepMs,
    // A gateway that was down for a long time first sends the wakes that are due.
    firstAfterMs: sweepMs,
    async run(signal) {
      const now = clock.now()
      const pruned: Record<string, number> = {}
      const failures: unknown[] = []
      // Without room for its archive, mail cannot be removed. The others can, and make room.
      for (const [name, prune] of Object.entries(prunes)) {
        pruned[name] = await prune(db, now, retention, signal).catch((error: unknown) => {
          failures.push(error)
          return 0
        })
      }
      if (Object.values(pruned).some((count) => count > 0)) log.info(pruned, 'retention.pruned')
      if (failures.length > 0) throw failures[0]
      return false
    },
  }
}
