import type { Sweep } from '../lib/sweeper.ts'
import type { Logger } from '../logger/logger.ts'
import type { Subscription } from '../registry/subscriptions/subscription.ts'
import type { Database } from '../storage/database.ts'
import type { KeptCounts } from './store/kept-counts.ts'
import { kindOf, subscriptionIdsAfter, trimDeliveriesOf, trimHeldOf } from './store/kept-store.ts'

interface TrimContext {
  readonly db: Database
  readonly log: Logger
  readonly kept: KeptCounts
}

/** How many held events and finished deliveries a subscription of each kind keeps. */
type Bounds = Readonly<Record<Subscription['kind'], { readonly held: number; readonly deliveries: number }>>

/** The newest records that each subscription, or each push config of a task, keeps. */
const keptOf: Bounds = {
  wake: { held: 5_000, deliveries: 1_000 },
  push: { held: 0, deliveries: 50 },
}
const everyMs = 10_000
const pageMax = 100
/** A subscription is trimmed when it got this part of what it keeps. */
const part = 4

/**
 * Keeps the held events and the finished deliveries of each subscription bounded: the oldest go. A pass looks at the subscriptions that
 * got many rows on this gateway, and removes what the store has too many of, whichever gateway wrote it. The first pass looks at every
 * subscription.
 */
export function trimSweep({ db, log, kept }: TrimContext, bounds: Bounds = keptOf): Sweep {
  const smallest = trimAfter(Math.min(bounds.wake.deliveries, bounds.push.deliveries))
  return {
    name: 'trim_kept',
    everyMs,
    firstAfterMs: everyMs,
    async run(signal) {
      const removed = { held: 0, deliveries: 0 }
      try {
        for await (const { id, isNew } of toTrim()) {
          if (signal.aborted) break
          const kind = await kindOf(db, id)
          const { held, deliveries } = bounds[kind ?? 'push']
          if (kind && !isNew && kept.of(id) < trimAfter(deliveries)) continue
          kept.reset(id)
          if (kind === 'wake') removed.held += await trimHeldOf(db, id, held, signal)
          if (kind) removed.deliveries += await trimDeliveriesOf(db, id, deliveries, signal)
        }
      } catch (error) {
        kept.forget()
        throw error
      }
      if (removed.held + removed.deliveries > 0) log.info(removed, 'wakes.trimmed')
      return false
    },
  }

  async function* toTrim(): AsyncGenerator<{ readonly id: string; readonly isNew: boolean }> {
    const counted = kept.toTrim(smallest)
    if (counted !== 'all') {
      for (const id of counted) yield { id, isNew: false }
      return
    }
    for (let after = ''; ; ) {
      const ids = await subscriptionIdsAfter(db, after, pageMax)
      for (const id of ids) {
        yield { id, isNew: true }
        // Its records may have to come from the disk: others go on before the next one.
        await new Promise(setImmediate)
      }
      if (ids.length < pageMax) return
      after = ids.at(-1)!
    }
  }
}

/** How many new rows make it worth while to trim a subscription that keeps so many. */
function trimAfter(kept: number): number {
  return Math.ceil(kept / part)
}
