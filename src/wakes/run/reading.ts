import { isHeavy, type LogEvent } from '../../log/event.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { type Pending, pageMax, readPage, recentPage, sift, withoutDelivered } from '../read/pending.ts'
import { maxInFlight } from '../rules/window.ts'
import type { RunContext } from './run-context.ts'

/** The first page of a run: thousands of runs may hold one each while they wait for a receiver. Later pages grow. */
const pageMin = 16
/** For so long what was appended need not be read back: far less than retention keeps it. */
const recentMs = 60_000

type Needs = Pick<RunContext, 'db' | 'clock' | 'notifier' | 'findDelivered'>

/** What a run that sends event by event reads: from wherever the next events are known, and from the log where they are not. */
export class PendingReader {
  readonly #context: Needs
  readonly #subscription: Subscription
  /** The event that an idle subscription was leased for: news, because nobody else knows of it yet. */
  #event: LogEvent | undefined
  /** What comes next, where the end of the run before has said it. */
  #given: readonly LogEvent[] | undefined
  #hasMore = false
  /** Whether the log is asked where nothing is at hand. Else the run ends, and finds out there. */
  #mayAsk: boolean
  #pageSize = pageMin

  constructor(context: Needs, subscription: Subscription, event: LogEvent | undefined) {
    this.#context = context
    this.#subscription = subscription
    this.#event = event
    this.#mayAsk = event === undefined || this.#looksAhead
  }

  /** The run goes on behind its end: these events come next, or the log says what does. `hasMore`: others follow them. */
  continueWith(next: readonly LogEvent[] | undefined, hasMore: boolean): void {
    this.#given = next
    this.#hasMore = hasMore
    this.#mayAsk = true
    this.#pageSize = pageMin
  }

  /** The next page behind a logId. An empty one that says no more may be the end of the log, or of what is known of it. */
  async next(after: number): Promise<Pending> {
    const { db, findDelivered } = this.#context
    const event = this.#event
    this.#event = undefined
    const page = event ? [event] : await this.#page(after)
    const more = page.length >= this.#pageSize
    this.#mayAsk = more || this.#hasMore || this.#looksAhead
    this.#hasMore = false
    this.#pageSize = isHeavy(page) ? pageMin : Math.min(pageMax, this.#pageSize * 4)
    const waking = await sift(db, this.#subscription, page, after)
    const events = event ? waking : await withoutDelivered(findDelivered, this.#subscription, waking)
    // A long stretch is read page by page between the work of others.
    if (more) await new Promise(setImmediate)
    return { events, scannedTo: page.at(-1)?.logId ?? after, more }
  }

  async #page(after: number): Promise<readonly LogEvent[]> {
    const { db, clock, notifier } = this.#context
    const range = { after, upTo: Number.MAX_SAFE_INTEGER, limit: this.#pageSize }
    const known = this.#given ?? recentPage(notifier.recent, this.#subscription, range)
    this.#given = undefined
    const [first] = known ?? []
    if (known && (!first || first.createdAt >= clock.now() - recentMs)) return known
    return this.#mayAsk ? readPage(db, this.#subscription, range) : []
  }

  /** Whether it sends more before the one before has arrived: then it does not come to its end between. */
  get #looksAhead(): boolean {
    return maxInFlight(this.#subscription) > 1
  }
}
