import type { Base } from '../../../core.ts'
import { sleep } from '../../../lib/clock.ts'
import type { LogEvent } from '../../../log/event.ts'
import { logBounds } from '../../../log/event-store.ts'
import { follow } from '../../../log/follow.ts'
import type { LogNotifier } from '../../../log/log-notifier.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { readEvents } from '../../rest/events/read.ts'
import { sourceFor } from '../../rest/events/stream.ts'

/** Called with the resources that events have changed, and the `logId` of the last of these events. */
type OnUpdated = (uris: readonly string[], logId: number) => void

interface FeedContext extends Base {
  readonly notifier: LogNotifier
  readonly resourcesOf: ResourcesOf
}

/** The URIs of a caller's resources that an event changes. */
export type ResourcesOf = (event: LogEvent, caller: Caller) => readonly string[]

const pageSize = 50
const outageMs = 1_000
/** The most events that are read for a reader that was away. If it missed more, it is notified that everything has changed. */
const missedMax = 1_000

/**
 * Tells readers which resources of their caller have changed: what any gateway appends to the log. All readers of one caller share
 * one follower of the log, which sees what the caller may see.
 */
export class ResourceFeed implements AsyncDisposable {
  readonly #context: FeedContext
  readonly #followers = new Map<string, Follower>()
  #isClosed = false

  constructor(context: FeedContext) {
    this.#context = context
  }

  /** Calls `listener` for the events after a `logId` that was just the end of the log. Returns a function that ends that. */
  listen(caller: Caller, after: number, listener: OnUpdated): () => void {
    if (this.#isClosed) return () => {}
    const key = `${caller.projectId} ${caller.id}`
    const follower = this.#followers.get(key) ?? this.#start(key, caller, after)
    const heard: OnUpdated = (uris, logId) => listener(uris, logId)
    follower.listeners.add(heard)
    return () => {
      follower.listeners.delete(heard)
      if (follower.listeners.size > 0 || this.#followers.get(key) !== follower) return
      this.#followers.delete(key)
      follower.stop.abort()
    }
  }

  /** Returns the end of a caller's log. */
  async head({ projectId }: Caller): Promise<number> {
    return (await logBounds(this.#context.db, projectId)).head
  }

  /** Returns the resources that changed after a `logId`; undefined: too much has happened to tell. */
  async changedSince(caller: Caller, logId: number): Promise<Set<string> | undefined> {
    const { db, resourcesOf } = this.#context
    const { head, prunedTo } = await logBounds(db, caller.projectId)
    if (logId < prunedTo || head - logId > missedMax) return undefined
    const changed = new Set<string>()
    for (let after = logId; ; ) {
      const page = await readEvents(db, caller, after, pageSize)
      for (const event of page) for (const uri of resourcesOf(event, caller)) changed.add(uri)
      const last = page.at(-1)
      if (!last || page.length < pageSize) return changed
      after = last.logId
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    const followers = [...this.#followers.values()]
    this.#followers.clear()
    for (const { stop } of followers) stop.abort()
    await Promise.all(followers.map(({ done }) => done))
  }

  #start(key: string, caller: Caller, after: number): Follower {
    const stop = new AbortController()
    const listeners = new Set<OnUpdated>()
    const follower = { listeners, stop, done: this.#follow(caller, after, listeners, stop.signal) }
    this.#followers.set(key, follower)
    return follower
  }

  /** Follows the log until the signal aborts. After a failure of the store it goes on where it was. Never rejects. */
  async #follow(caller: Caller, from: number, listeners: ReadonlySet<OnUpdated>, signal: AbortSignal): Promise<void> {
    const { db, notifier, resourcesOf, clock, log } = this.#context
    let after = from
    while (!signal.aborted) {
      try {
        for await (const event of follow(notifier, { ...sourceFor(db, caller), after, signal, pageSize })) {
          after = event.logId
          const uris = resourcesOf(event, caller)
          if (uris.length > 0) for (const hear of listeners) hear(uris, event.logId)
        }
      } catch (err) {
        log.warn({ err, agent: caller.identity }, 'mcp_feed.failed')
        await sleep(clock, outageMs, signal)
      }
    }
  }
}

interface Follower {
  readonly listeners: Set<OnUpdated>
  readonly stop: AbortController
  readonly done: Promise<void>
}
