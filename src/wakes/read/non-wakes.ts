import type { LogEvent } from '../../log/event.ts'
import { readTriggerEventsBefore } from '../../log/events-before.ts'
import type { PresenceState } from '../../registry/sessions/presence.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { listSubscriptions } from '../../registry/subscriptions/subscription-store.ts'
import type { Reader } from '../../storage/database.ts'
import { messageIdOf } from '../rules/match.ts'
import { type NonWake, nonWakeOf } from '../rules/non-wake.ts'
import { heldWithin, listHeld } from '../store/held-store.ts'
import type { FindDelivered } from './pending.ts'

/** An event that a subscription listens to and did not send to its target. */
export interface UnsentEvent {
  readonly event: LogEvent
  readonly action: NonWake['action']
  readonly reason: NonWake['reason']
  /** The harness's presence, where that decided. */
  readonly presence: PresenceState | null
}

interface UnsentPage {
  /** Newest first. It may be short, even empty, and not be the last one. */
  readonly items: readonly UnsentEvent[]
  /** The logId before which the next page begins; undefined: there is none. */
  readonly nextBefore: number | undefined
}

/** How many events of the log one page looks at: bounds what a page costs where nearly everything was sent. */
const scannedMax = 1_000

/**
 * Lists what a subscription listens to and did not send, newest first. What presence decided, or a target without a route, was
 * recorded when the event was appended. The rest follows from the event, the cursor and the mailbox: no event writes a row for a
 * subscription that only waits, or that it is not meant to wake. Source: D27.
 */
export async function listUnsent(
  db: Reader,
  subscription: WakeSubscription,
  findDelivered: FindDelivered,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<UnsentPage> {
  const { projectId, audience, trigger } = subscription
  const scanned = await readTriggerEventsBefore(db, { projectId, audience, trigger, before, limit: scannedMax })
  const isWhole = scanned.length < scannedMax
  const floor = isWhole ? 0 : scanned.at(-1)!.logId
  const [held, derived] = await Promise.all([
    listHeld(db, subscription.id, before, limit + 1),
    derive(db, subscription, findDelivered, scanned),
  ])
  const all = [...held, ...derived]
    .filter(({ event }) => event.logId >= floor)
    .sort((one, other) => other.event.logId - one.event.logId)
  const items = all.slice(0, limit)
  if (all.length > limit) return { items, nextBefore: items.at(-1)!.event.logId }
  return { items, nextBefore: isWhole ? undefined : floor }
}

async function derive(
  db: Reader,
  subscription: WakeSubscription,
  findDelivered: FindDelivered,
  scanned: readonly LogEvent[],
): Promise<UnsentEvent[]> {
  const [newest] = scanned
  if (!newest) return []
  const events = scanned.filter(({ createdAt }) => createdAt >= subscription.createdAt)
  const messageIds = [...new Set(events.map(messageIdOf).filter((id) => id !== undefined))]
  const [recorded, siblings, delivered] = await Promise.all([
    heldWithin(db, subscription.id, scanned.at(-1)!.logId - 1, newest.logId),
    listSubscriptions(db, subscription.agentId),
    findDelivered(subscription.agentId, messageIds),
  ])
  const unsent: UnsentEvent[] = []
  for (const event of events) {
    if (recorded.has(event.logId)) continue
    const deliveredBy = delivered.get(messageIdOf(event) ?? '')
    const nonWake = nonWakeOf(subscription, event, { siblings, deliveredBy })
    if (nonWake) unsent.push({ ...nonWake, event, presence: null })
  }
  return unsent
}
