import type { Sweep } from '../lib/sweeper.ts'
import type { Logger } from '../logger.ts'
import { countLivePushes, countSubscriptions } from '../registry/subscriptions/subscription-store.ts'
import { keptLimits } from '../share-limits.ts'
import type { Database } from '../storage/database.ts'
import { type KeptBounds, shareOf, trimAfter } from './rules/kept-share.ts'
import type { KeptCounts } from './store/kept-counts.ts'
import { ownerOf, subscriptionIdsAfter, trimDeliveriesOf, trimHeldOf } from './store/kept-store.ts'

interface TrimContext {
  readonly db: Database
  readonly log: Logger
  readonly kept: KeptCounts
}

/** What the subscriptions of an agent keep of each kind. */
interface Kept {
  readonly held: KeptBounds
  readonly deliveries: KeptBounds
}

const { heldKept, deliveriesKept, keptOfEach } = keptLimits
const keptOfAgent: Kept = {
  held: { ofAgent: heldKept.max, ofEach: keptOfEach.max },
  deliveries: { ofAgent: deliveriesKept.max, ofEach: keptOfEach.max },
}
const everyMs = 10_000
const pageMax = 100

/**
 * Keeps the held events and the finished deliveries of each agent bounded: the oldest go. A pass looks at the subscriptions that got many
 * rows on this gateway, and removes what the store has too many of, whichever gateway wrote it. The first pass looks at every
 * subscription.
 */
export function trimSweep({ db, log, kept }: TrimContext, bounds: Kept = keptOfAgent): Sweep {
  const smallest = trimAfter(Math.min(bounds.held.ofEach, bounds.deliveries.ofEach))
  return {
    name: 'trim_kept',
    everyMs,
    firstAfterMs: everyMs,
    async run(signal) {
      const counts = new Map<string, number>()
      const removed = { held: 0, deliveries: 0 }
      try {
        for await (const { id, isNew } of toTrim()) {
          if (signal.aborted) break
          await trim(id, isNew)
        }
      } catch (error) {
        kept.forget()
        throw error
      }
      if (removed.held + removed.deliveries > 0) log.info(removed, 'wakes.trimmed')
      return false

      async function trim(id: string, isNew: boolean): Promise<void> {
        const agentId = await ownerOf(db, id)
        if (agentId === undefined) return kept.reset(id)
        const siblings = counts.get(agentId) ?? (await subscriptionsOf(agentId))
        counts.set(agentId, siblings)
        const [held, deliveries] = [shareOf(bounds.held, siblings), shareOf(bounds.deliveries, siblings)]
        if (!isNew && kept.of(id) < trimAfter(Math.min(held, deliveries))) return
        kept.reset(id)
        removed.held += await trimHeldOf(db, id, held, signal)
        removed.deliveries += await trimDeliveriesOf(db, id, deliveries, signal)
      }
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
      for (const id of ids) yield { id, isNew: true }
      if (ids.length < pageMax) return
      after = ids.at(-1)!
      await new Promise(setImmediate)
    }
  }

  async function subscriptionsOf(agentId: string): Promise<number> {
    return (await countSubscriptions(db, agentId)) + (await countLivePushes(db, agentId))
  }
}
