import { isHeavy, type LogEvent } from '../../log/event.ts'
import { type PendingPage, pageMax, readPage, recentPage, sift, withoutDelivered } from '../read/pending.ts'
import { maxInFlight } from '../rules/window.ts'
import type { Run } from './run.ts'

/** The first page of a run: thousands of runs may hold one each while they wait for a receiver. Later pages grow. */
const pageMin = 16
/** Cached events older than this are read from the log, because retention may have pruned them. */
const cachedMaxMs = 60_000

/** Reads what a run sends event by event: from the cache where it has the next events, else from the log. */
export class PendingReader {
  readonly #run: Pick<Run, 'context' | 'subscription'>
  /** The event that an idle subscription was leased for. No other route can have delivered it yet. */
  #event: LogEvent | undefined
  /** The next events, where the transaction that continued the run has read them. */
  #given: readonly LogEvent[] | undefined
  #hasMore = false
  /** True when the log is read where the cache has nothing. If not, the run tries to end, and finds out there. */
  #mayReadLog: boolean
  #pageSize = pageMin

  constructor(run: Pick<Run, 'context' | 'subscription' | 'event'>) {
    this.#run = run
    this.#event = run.event
    this.#mayReadLog = run.event === undefined || this.#sendsAhead
  }

  /** Continues a run that tried to end. `events` come next, if given; `hasMore`: the log has others after them. */
  continueWith(events: readonly LogEvent[] | undefined, hasMore: boolean): void {
    this.#given = events
    this.#hasMore = hasMore
    this.#mayReadLog = true
    this.#pageSize = pageMin
  }

  /** The next page after a logId. An empty one without more may be the end of the log, or of what the cache has of it. */
  async next(after: number): Promise<PendingPage> {
    const { context, subscription } = this.#run
    const event = this.#event
    this.#event = undefined
    const page = event ? [event] : await this.#page(after)
    const more = page.length >= this.#pageSize
    this.#mayReadLog = more || this.#hasMore || this.#sendsAhead
    this.#hasMore = false
    this.#pageSize = isHeavy(page) ? pageMin : Math.min(pageMax, this.#pageSize * 4)
    const waking = await sift(context.db, subscription, page, after)
    const events = event ? waking : await withoutDelivered(context.findDelivered, subscription, waking)
    // Lets other work run between the pages of a long backlog.
    if (more) await new Promise(setImmediate)
    return { events, scannedTo: page.at(-1)?.logId ?? after, more }
  }

  async #page(after: number): Promise<readonly LogEvent[]> {
    const { context, subscription } = this.#run
    const { db, clock, notifier } = context
    const range = { after, upTo: Number.MAX_SAFE_INTEGER, limit: this.#pageSize }
    const known = this.#given ?? recentPage(notifier.recent, subscription, range)
    this.#given = undefined
    const [first] = known ?? []
    if (known && (!first || first.createdAt >= clock.now() - cachedMaxMs)) return known
    return this.#mayReadLog ? readPage(db, subscription, range) : []
  }

  /** True when the run sends the next events before the last ones arrived: then it does not try to end between them. */
  get #sendsAhead(): boolean {
    return maxInFlight(this.#run.subscription) > 1
  }
}
