import type { Sweep } from '../lib/sweeper.ts'
import { newestLiveSession } from '../registry/sessions/session-lists.ts'
import type { Database } from '../storage/database.ts'
import { presenceOf } from '../words/presence.ts'
import { letsThrough } from './rules/presence-edge.ts'
import { listHolding } from './store/released-store.ts'
import { retryHeldOf } from './store/retry-held.ts'

interface MissedEdgeContext {
  readonly db: Database
  readonly clock: { now(): number }
  /** Notifies the engine, here and on the other gateways, that a subscription has changed. */
  readonly changed: (subscriptionId: string) => void
}

const everyMs = 60_000
const pageMax = 100

/**
 * Finds what presence held and no longer holds without any report of it: the last report has become old, or an event was appended
 * while its report was on the way. Source: S1-10…S1-13.
 */
export function missedEdgeSweep({ db, clock, changed }: MissedEdgeContext): Sweep {
  return {
    name: 'held_wakes',
    everyMs,
    firstAfterMs: everyMs,
    async run(signal) {
      for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
        const { holding, next } = await listHolding(db, after, pageMax)
        for (const subscription of holding) {
          const presence = presenceOf(await newestLiveSession(db, subscription.audience), clock.now())
          if (!letsThrough(subscription, presence)) continue
          const released = await db.transaction((tx) => retryHeldOf(tx, [subscription.id]))
          released.forEach(changed)
        }
        after = next
      }
      return false
    },
  }
}
