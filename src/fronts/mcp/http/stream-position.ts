import { subscriptionsMax } from '../../../wake-stream/open-cost.ts'

/** How far a reader of a session's stream is. */
export interface StreamPosition {
  /** Changes of resources up to this `logId` were written. */
  readonly head: number
  /** The `logId` of the last wake of each subscription that was written, by its `wakeName`. */
  readonly wakes: ReadonlyMap<string, number>
}

/** As many as a stream has subscriptions: an id names no more, and so has a kilobyte. */
const namesMax = subscriptionsMax
/** The names of an id that are read: a request has room for more than one of this gateway needs. */
const readMax = 4 * namesMax
const form = /^[0-9a-z]{1,11}(\.[0-9a-z]{1,16}-[0-9a-z]{1,11})*$/

/**
 * Returns the id of an event on a session's stream: the position of the reader in the log after this event. So any gateway can continue
 * from there, and keeps nothing for a reader that is away. Pure. Source: MCP 2025-11-25, Transports, Resumability; S1-29.
 */
export function positionId({ head, wakes }: StreamPosition): string {
  return [head.toString(36), ...[...wakes].map(([name, logId]) => `${name}-${logId.toString(36)}`)].join('.')
}

/** Returns the position of a `Last-Event-ID`. undefined: it is none of these. Pure. */
export function positionOf(eventId: string): StreamPosition | undefined {
  if (!form.test(eventId)) return undefined
  const [head = '', ...named] = eventId.split('.')
  if (named.length > readMax) return undefined
  const wakes = named.map((one): [string, number] => {
    const [name = '', logId = ''] = one.split('-')
    return [name, Number.parseInt(logId, 36)]
  })
  return { head: Number.parseInt(head, 36), wakes: new Map(wakes) }
}

/**
 * Returns the `logId` of the last wake of a subscription that a reader got. Of one that was connected after the reader's last event
 * it got none: that is where it was in the log then. Pure.
 */
export function wakeSeen({ head, wakes }: StreamPosition, subscriptionId: string): number {
  return wakes.get(wakeName(subscriptionId)) ?? head
}

/**
 * Returns what of `wakes` a position names: every subscription that is read now, because each has a cursor of its own and its wakes may
 * come later than newer ones of others; of the rest the last ones that there is room for. Pure.
 */
export function keptWakes(wakes: Map<string, number>, read: ReadonlySet<string>): Map<string, number> {
  let surplus = wakes.size - namesMax
  if (surplus <= 0) return wakes
  return new Map([...wakes].filter(([name]) => read.has(name) || surplus-- <= 0))
}

/** How a position names a subscription: the last 12 digits of its UUID are random. Pure. */
export function wakeName(subscriptionId: string): string {
  return subscriptionId.slice(-12).toLowerCase()
}
