/** How far a reader of a session's stream is. */
export interface StreamPosition {
  /** Changes of resources up to this `logId` were written. */
  readonly head: number
  /** The `logId` of the last wake of each subscription that was written. */
  readonly wakes: ReadonlyMap<string, number>
}

/** More than a stream has subscriptions. */
const wakesMax = 100
const form = /^[0-9a-z]{1,11}(\.[0-9a-z]{1,16}-[0-9a-z]{1,11})*$/

/**
 * Returns the id of an event on a session's stream: where the reader is in the log once it has the event, so that any gateway goes on
 * from there and keeps nothing for a reader that is away. Pure. Source: MCP 2025-11-25, Transports, Resumability; S1-29.
 */
export function positionId({ head, wakes }: StreamPosition): string {
  return [head.toString(36), ...[...wakes].map(([id, logId]) => `${nameIn(id)}-${logId.toString(36)}`)].join('.')
}

/** Returns the position of a `Last-Event-ID`. undefined: it is none, or names none of these subscriptions wrongly. Pure. */
export function positionOf(eventId: string, subscriptionIds: readonly string[]): StreamPosition | undefined {
  if (!form.test(eventId)) return undefined
  const [head = '', ...named] = eventId.split('.')
  if (named.length > wakesMax) return undefined
  const known = new Map(subscriptionIds.map((id) => [nameIn(id), id]))
  const wakes = new Map<string, number>()
  for (const one of named) {
    const [name = '', logId = ''] = one.split('-')
    const id = known.get(name)
    if (id !== undefined) wakes.set(id, Number.parseInt(logId, 36))
  }
  return { head: Number.parseInt(head, 36), wakes }
}

/** The last 12 digits of a subscription's UUID are random. */
function nameIn(subscriptionId: string): string {
  return subscriptionId.slice(-12).toLowerCase()
}
