import { sizeLimits } from '../../limits.ts'
import { type LogEvent, weightOf } from '../../log/event.ts'
import type { EventRow } from '../../log/event-row.ts'
import { eventColumns, eventFromRow, itsEvent } from '../../log/event-store.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { listSubscriptions } from '../../registry/subscriptions/subscription-store.ts'
import type { Reader } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import type { PresenceState } from '../../words/presence.ts'
import type { HandedOver } from '../rules/handed-over.ts'
import { messageIdOf } from '../rules/match.ts'
import { type NonWake, nonWakeOf } from '../rules/non-wake.ts'
import { type Delivery, listDeliveriesSince } from '../store/delivery-store.ts'
import { listHeld } from '../store/held-store.ts'
import { type FindDelivered, readPending } from './pending.ts'

const newestFirst = statement<Before, EventRow>(sql`select ${eventColumns}
  from event_audience a join event e on ${itsEvent}
  where a.audience = ${p('audience')} and a.project_id = ${p('projectId')} and a.trigger = ${p('trigger')} and a.log_id < ${p('before')}
  order by a.log_id desc ${limited}`)

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

interface UnsentQuery {
  /** A logId; exclusive. */
  readonly before: number
  readonly limit: number
}

/** How many events of the log one page looks at, unless they are large: bounds what a page costs where nearly everything was sent. */
const scannedMax = 1_000
/** Events that are read in one query: few at first, and while they are large. */
const stepMin = 25
const stepMax = 100
const largeStep = 256 * 1024
/** How many deliveries one step looks at, from the first that may have one of its events. */
const deliveriesMax = 500

/**
 * Lists what a subscription listens to and did not send, newest first. What presence decided, or a target without a route, was
 * recorded when the event was appended. The rest follows from the event, the cursor and the mailbox: no event writes a row for a
 * subscription that only waits, or that it is not meant to wake. Source: D27.
 */
export async function listUnsent(
  db: Reader,
  subscription: WakeSubscription,
  findDelivered: FindDelivered,
  { before, limit }: UnsentQuery,
): Promise<UnsentPage> {
  const items: UnsentEvent[] = []
  let end = before
  let scanned = 0
  let read = 0
  for (let step = stepMin; scanned < scannedMax && read < sizeLimits.page.max; ) {
    const { held, events, floor } = await readStep(db, subscription, end, step)
    const derived = await derive(db, subscription, findDelivered, held, events)
    items.push(...[...held, ...derived].sort((one, other) => other.event.logId - one.event.logId))
    const size = sizeOf(events) + sizeOf(held.map(({ event }) => event))
    read += size
    if (floor === 0 || items.length > limit) {
      const page = items.slice(0, limit)
      return { items: page, nextBefore: items.length > limit ? page.at(-1)!.event.logId : undefined }
    }
    end = floor
    scanned += Math.max(events.length, held.length)
    step = size > largeStep ? stepMin : stepMax
  }
  return { items, nextBefore: end }
}

/** The events that one step reads: those of the log, and those that were held, from `floor` on. `floor` 0: nothing is left. */
interface Step {
  readonly held: readonly UnsentEvent[]
  readonly events: readonly LogEvent[]
  readonly floor: number
}

async function readStep(db: Reader, subscription: WakeSubscription, before: number, limit: number): Promise<Step> {
  const { id, projectId, audience, trigger } = subscription
  const events = await readTriggerEventsBefore(db, { projectId, audience, trigger, before, limit })
  const eventFloor = events.length < limit ? 0 : events.at(-1)!.logId
  // Of an earlier trigger more may be held than the log has of the present one.
  const held = await listHeld(db, id, { from: eventFloor, before, limit })
  const floor = held.length < limit ? eventFloor : held.at(-1)!.event.logId
  return { held, events: events.filter(({ logId }) => logId >= floor), floor }
}

async function derive(
  db: Reader,
  subscription: WakeSubscription,
  findDelivered: FindDelivered,
  held: readonly UnsentEvent[],
  scanned: readonly LogEvent[],
): Promise<UnsentEvent[]> {
  const recorded = new Set(held.map(({ event }) => event.logId))
  const events = scanned.filter(({ createdAt, logId }) => createdAt >= subscription.createdAt && !recorded.has(logId))
  if (events.length === 0) return []
  const messageIds = [...new Set(events.map(messageIdOf).filter((id) => id !== undefined))]
  const [siblings, delivered] = await Promise.all([
    listSubscriptions(db, subscription.agentId),
    findDelivered(subscription.agentId, messageIds),
  ])
  const unsent: UnsentEvent[] = []
  for (const event of events) {
    const handed = delivered.get(messageIdOf(event) ?? '')
    const nonWake = nonWakeOf(subscription, event, { siblings, isInHand: handed !== undefined })
    if (nonWake) unsent.push({ event, presence: null, ...nonWake })
  }
  return withoutSent(db, subscription, unsent, delivered)
}

/**
 * Without the events that were sent all the same: their wake was on its way when another route took the mail, or a session took it that
 * ended without reading it.
 */
async function withoutSent(
  db: Reader,
  subscription: WakeSubscription,
  unsent: readonly UnsentEvent[],
  delivered: ReadonlyMap<string, HandedOver>,
): Promise<UnsentEvent[]> {
  const skipped = unsent.filter(({ action }) => action === 'skip')
  if (skipped.length === 0) return [...unsent]
  const since = Math.min(...skipped.map(({ event }) => event.createdAt))
  // A wake of a later generation has an id of the instant at which that began.
  const starts = [since, subscription.generationAt].filter((at) => at >= since)
  const read = starts.map((at) => listDeliveriesSince(db, subscription.id, at, deliveriesMax))
  const deliveries = (await Promise.all(read)).flat()
  const sent = new Set<UnsentEvent>()
  for (const wake of deliveries) {
    const covered = skipped.filter((one) => !sent.has(one) && covers(wake, one.event))
    const made = covered.filter(({ event }) => wasMadeWith(wake, delivered.get(messageIdOf(event) ?? '')))
    const isWhole = made.length < covered.length && (await hasWholeRange(db, subscription, wake))
    for (const one of isWhole ? covered : made) sent.add(one)
  }
  return unsent.filter((one) => !sent.has(one))
}

const sizeOf = (events: readonly LogEvent[]): number => events.reduce((sum, event) => sum + weightOf(event), 0)

/** True when a wake arrived and an event is in its range. A digest leaves out what its agent has in hand when it is made. Pure. */
function covers({ fromLogId, toLogId, outcome }: Delivery, { logId }: LogEvent): boolean {
  return logId >= fromLogId && logId <= toLogId && (outcome === 'delivered' || outcome === 'written')
}

/** True when a digest left nothing out, whenever its events were handed over: instants do not order two acts of a millisecond. */
async function hasWholeRange(db: Reader, subscription: WakeSubscription, digest: Delivery): Promise<boolean> {
  const { events, more } = await readPending(db, subscription, digest.fromLogId - 1, digest.toLogId)
  return !more && events.length === digest.eventCount
}

/** True when a wake was made while the message of an event in its range was not in hand (`handed`: by another route). Pure. */
function wasMadeWith({ fromLogId, toLogId, attempts, createdAt }: Delivery, handed: HandedOver | undefined): boolean {
  if (fromLogId === toLogId) return true
  if (!handed) return false
  const madeAt = attempts[0] ? Date.parse(attempts[0].at) : createdAt
  return madeAt < handed.at || (handed.lostAt !== null && madeAt >= handed.lostAt)
}

interface Before {
  readonly projectId: string
  readonly audience: string
  readonly trigger: string
  /** exclusive */
  readonly before: number
  readonly limit: number
}

/** Returns the events that concern one agent and fire one trigger before a logId, newest first. */
export async function readTriggerEventsBefore(db: Reader, before: Before): Promise<LogEvent[]> {
  return (await db.all(newestFirst, before)).map(eventFromRow)
}
