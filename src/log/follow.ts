import type { LogEvent } from './event.ts'
import type { LogNotifier } from './log-notifier.ts'
import type { Page } from './shared-pages.ts'

const pageSizeDefault = 200

interface FollowOptions {
  /** The key to listen to: a project's id, a task's id, or an agent's id. */
  key: string
  /** The project whose log is read, if the key is an agent's id. */
  within?: string
  /** The watermark to start after. */
  after: number
  /** Reads the next page from the log, in order. */
  read: (after: number, limit: number) => Promise<LogEvent[]>
  /** Returns the newest logId, queried before the read. It saves followers that found nothing from reading the same range again. */
  head?: () => Promise<number>
  pageSize?: number
  signal: AbortSignal
  /** Called when the follower has caught up and waits. */
  onIdle?: () => void
}

/**
 * Yields every event after a watermark, then every event as it is committed, each once and in order. The notifier only hints when
 * to look; events are read from the log. Ends when the signal aborts.
 */
export async function* follow(
  notifier: LogNotifier,
  options: FollowOptions,
): AsyncGenerator<LogEvent, void, undefined> {
  const { signal, key, within } = options
  let after = options.after
  let notifiedAt = notifier.pages.now()
  let grown = true
  // Events that another gateway has committed without a notification are in the log, not in the cache.
  let isFirst = true
  let wake = () => {}
  const notice = () => {
    grown = true
    notifiedAt = notifier.pages.now()
    wake()
  }
  const stop = notifier.listen(key, notice, within)
  signal.addEventListener('abort', notice)
  try {
    while (!signal.aborted) {
      if (!grown) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      grown = false
      let page: Page
      do {
        page =
          (isFirst ? undefined : cachedEvents(notifier, options, after)) ??
          (await readShared(notifier, options, after, notifiedAt))
        isFirst = false
        for (const event of page.events) {
          if (signal.aborted) return
          after = event.logId
          yield event
        }
        after = Math.max(after, page.upTo)
        // The store may answer within this turn of the loop, and so may a reader.
        if (page.more) await new Promise(setImmediate)
      } while (page.more)
      options.onIdle?.()
    }
  } finally {
    stop()
    signal.removeEventListener('abort', notice)
  }
}

/** Returns the next cached events of an agent. Undefined: the cache does not know; read the log. */
function cachedEvents(
  notifier: LogNotifier,
  { key, within, pageSize = pageSizeDefault }: FollowOptions,
  after: number,
): Page | undefined {
  if (within === undefined) return undefined
  const events = notifier.recent.page(within, key, { after, upTo: Number.MAX_SAFE_INTEGER, limit: pageSize })
  if (!events) return undefined
  const more = events.length === pageSize
  return { events, upTo: more ? events.at(-1)!.logId : (notifier.recent.head(within) ?? after), more }
}

function readShared(notifier: LogNotifier, options: FollowOptions, after: number, notifiedAt: number): Promise<Page> {
  const { key, pageSize = pageSizeDefault } = options
  const read = async (from: number): Promise<Page> => {
    const head = (await options.head?.()) ?? from
    const events = await options.read(from, pageSize)
    const more = events.length === pageSize
    const last = events.at(-1)?.logId ?? from
    return { events, upTo: more ? last : Math.max(head, last), more }
  }
  return notifier.isShared(key) ? notifier.pages.read(key, { after, notifiedAt }, read) : read(after)
}
