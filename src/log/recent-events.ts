import { MiB } from '../limits.ts'
import type { Trigger } from '../words/events.ts'
import { type LogEvent, type NewEvent, weightOf } from './event.ts'

/** The newest events of a project, without a gap. */
interface CachedRange {
  /** Every event after this logId, up to `head`, is cached. */
  from: number
  head: number
  /** The events by the ids of the agents and tasks that they concern, in order. */
  readonly concerning: Map<string, LogEvent[]>
}

interface CachedEvent {
  readonly range: CachedRange
  readonly event: LogEvent
  readonly keys: readonly string[]
  readonly weight: number
}

/**
 * Caches the newest events that this gateway appended, so that a run need not read them back. It is never the truth: it
 * may lack the newest events of the log, and returns undefined if it does not know. Bounded by the number of events and by their size.
 */
export class RecentEvents {
  readonly #ranges = new Map<string, CachedRange>()
  /** A ring of all cached events; the oldest is at `#first`. */
  readonly #ring: (CachedEvent | undefined)[]
  readonly #weightMax: number
  #first = 0
  #count = 0
  #weight = 0

  constructor(eventsMax = 1_024, weightMax = 16 * MiB) {
    this.#ring = new Array(eventsMax).fill(undefined)
    this.#weightMax = weightMax
  }

  /** The size of all cached events, in characters. */
  get weight(): number {
    return this.#weight
  }

  /** Adds events of one project, in order, with the audience of each. */
  add(events: readonly LogEvent[], appended: readonly Pick<NewEvent, 'audience'>[]): void {
    const [first] = events
    if (!first) return
    const range = this.#rangeBefore(first)
    for (let index = 0; index < events.length; index++) {
      const event = events[index]!
      const { audience } = appended[index]!
      const keys = event.taskId === null ? audience : [...audience, event.taskId]
      this.#keep({ range, event, keys, weight: weightOf(event) })
    }
  }

  /** Drops these projects: other gateways have appended events to them. Ids of other kinds are ignored. */
  forget(projectIds: Iterable<string>): void {
    for (const projectId of projectIds) this.#ranges.delete(projectId)
  }

  forgetAll(): void {
    this.#ranges.clear()
  }

  /** Returns the newest cached logId of a project. */
  head(projectId: string): number | undefined {
    return this.#ranges.get(projectId)?.head
  }

  /** Returns the events of an agent (all, or those of one trigger) or of a task, in `(after, upTo]`. Undefined: read the log. */
  page(
    projectId: string,
    key: string,
    range: { readonly after: number; readonly upTo: number; readonly limit: number },
    trigger?: Trigger,
  ): LogEvent[] | undefined {
    const cached = this.#ranges.get(projectId)
    const { after, upTo, limit } = range
    if (!cached || after < cached.from || after > cached.head) return undefined
    const events = cached.concerning.get(key)
    if (!events) return []
    let first = events.length
    while (first > 0 && events[first - 1]!.logId > after) first--
    const page: LogEvent[] = []
    for (let i = first; i < events.length && page.length < limit && events[i]!.logId <= upTo; i++) {
      if (trigger === undefined || events[i]!.trigger === trigger) page.push(events[i]!)
    }
    return page
  }

  /** Returns the range that an event continues, or a new one if events between are missing. */
  #rangeBefore({ projectId, logId }: LogEvent): CachedRange {
    const known = this.#ranges.get(projectId)
    if (known?.head === logId - 1) return known
    const range = { from: logId - 1, head: logId - 1, concerning: new Map() }
    this.#ranges.set(projectId, range)
    return range
  }

  #keep(kept: CachedEvent): void {
    const { range, event, keys } = kept
    range.head = event.logId
    if (this.#count === this.#ring.length) this.#dropOldest()
    this.#ring[(this.#first + this.#count) % this.#ring.length] = kept
    this.#count++
    this.#weight += kept.weight
    for (const key of keys) {
      const known = range.concerning.get(key)
      if (known) known.push(event)
      else range.concerning.set(key, [event])
    }
    while (this.#weight > this.#weightMax && this.#count > 1) this.#dropOldest()
  }

  #dropOldest(): void {
    const oldest = this.#ring[this.#first]!
    this.#ring[this.#first] = undefined
    this.#first = (this.#first + 1) % this.#ring.length
    this.#count--
    this.#weight -= oldest.weight
    this.#drop(oldest)
  }

  #drop({ range, event, keys }: CachedEvent): void {
    range.from = event.logId
    for (const key of keys) {
      const events = range.concerning.get(key)!
      if (events.length === 1) range.concerning.delete(key)
      else events.shift()
    }
    if (range.from === range.head && this.#ranges.get(event.projectId) === range) this.#ranges.delete(event.projectId)
  }
}
