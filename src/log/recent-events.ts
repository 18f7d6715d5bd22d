import { memoryLimits } from '../limits.ts'
import { type LogEvent, type NewEvent, type Trigger, weightOf } from './event.ts'

/** The newest events of a project, as far back as none is missing. */
interface Stretch {
  /** Behind this one, every event up to `head` is here. */
  from: number
  head: number
  /** The events by whom they concern, agents' and tasks' ids, in order. */
  readonly concerning: Map<string, LogEvent[]>
}

interface Kept {
  readonly stretch: Stretch
  readonly event: LogEvent
  readonly keys: readonly string[]
  readonly weight: number
}

/**
 * What was appended here a moment ago, so that whoever sends it need not read it back. It is never the truth: it may be older
 * than the log, and answers nothing where it does not know. Bounded by the number of events and by what they weigh.
 */
export class RecentEvents {
  readonly #stretches = new Map<string, Stretch>()
  /** Every event that is kept, the oldest at `#first`. */
  readonly #ring: (Kept | undefined)[]
  readonly #weightMax: number
  #first = 0
  #count = 0
  #weight = 0

  constructor(eventsMax = memoryLimits.recentEvents.max, weightMax = memoryLimits.recentWeight.max) {
    this.#ring = new Array(eventsMax).fill(undefined)
    this.#weightMax = weightMax
  }

  /** What the events that are kept weigh together. */
  get weight(): number {
    return this.#weight
  }

  /** Takes events of one project, in order, with those whom each concerns. */
  add(events: readonly LogEvent[], appended: readonly Pick<NewEvent, 'audience'>[]): void {
    const [first] = events
    if (!first) return
    const stretch = this.#stretchBefore(first)
    for (const [index, event] of events.entries()) {
      const { audience } = appended[index]!
      const keys = event.taskId === null ? audience : [...audience, event.taskId]
      this.#keep({ stretch, event, keys, weight: weightOf(event) })
    }
  }

  /** Of these projects others have appended events that are not here. Keys of other kinds mean nothing. */
  forget(projectIds: Iterable<string>): void {
    for (const projectId of projectIds) this.#stretches.delete(projectId)
  }

  forgetAll(): void {
    this.#stretches.clear()
  }

  /** The newest logId that is known of a project. */
  head(projectId: string): number | undefined {
    return this.#stretches.get(projectId)?.head
  }

  /** The events of an agent, all or those of one trigger, or of a task, in `(after, upTo]`. Undefined: ask the log. */
  page(
    projectId: string,
    key: string,
    range: { readonly after: number; readonly upTo: number; readonly limit: number },
    trigger?: Trigger,
  ): LogEvent[] | undefined {
    const stretch = this.#stretches.get(projectId)
    const { after, upTo, limit } = range
    if (!stretch || after < stretch.from || after > stretch.head) return undefined
    const events = stretch.concerning.get(key)
    if (!events) return []
    let first = events.length
    while (first > 0 && events[first - 1]!.logId > after) first--
    const page: LogEvent[] = []
    for (let i = first; i < events.length && page.length < limit && events[i]!.logId <= upTo; i++) {
      if (trigger === undefined || events[i]!.trigger === trigger) page.push(events[i]!)
    }
    return page
  }

  /** The stretch that goes on with an event: a new one, where those between are not known. */
  #stretchBefore({ projectId, logId }: LogEvent): Stretch {
    const known = this.#stretches.get(projectId)
    if (known?.head === logId - 1) return known
    const stretch = { from: logId - 1, head: logId - 1, concerning: new Map() }
    this.#stretches.set(projectId, stretch)
    return stretch
  }

  #keep(kept: Kept): void {
    const { stretch, event, keys } = kept
    stretch.head = event.logId
    if (this.#count === this.#ring.length) this.#dropOldest()
    this.#ring[(this.#first + this.#count) % this.#ring.length] = kept
    this.#count++
    this.#weight += kept.weight
    for (const key of keys) {
      const known = stretch.concerning.get(key)
      if (known) known.push(event)
      else stretch.concerning.set(key, [event])
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

  #drop({ stretch, event, keys }: Kept): void {
    stretch.from = event.logId
    for (const key of keys) {
      const events = stretch.concerning.get(key)!
      if (events.length === 1) stretch.concerning.delete(key)
      else events.shift()
    }
    if (stretch.from === stretch.head && this.#stretches.get(event.projectId) === stretch)
      this.#stretches.delete(event.projectId)
  }
}
