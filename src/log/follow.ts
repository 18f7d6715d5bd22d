import type { LogEvent } from './event.ts'
import type { LogNotifier } from './log-notifier.ts'
import type { Page } from './shared-pages.ts'

const pageSizeDefault = 200

interface FollowOptions {
  /** What to listen to: a project's id, a task's id, or an agent's id. */
  key: string
  /** The project whose log is read, where the key is an agent's. */
  within?: string
  /** The watermark to start behind. */
  after: number
  /** Reads the next page from the log, in order. */
  read: (after: number, limit: number) => Promise<LogEvent[]>
  /** The newest logId of what is read, asked before the read. It spares followers who saw nothing another look at the same. */
  head?: () => Promise<number>
  pageSize?: number
  signal: AbortSignal
  /** Called when the follower has caught up and would wait. */
  onIdle?: () => void
}

/**
 * Everything after a watermark, then everything as it is committed, each event once and in order. The live notifier
 * only says when to look; what is looked at is the log. Ends when the signal aborts.
 */
export async function* follow(
  notifier: LogNotifier,
  options: FollowOptions,
): AsyncGenerator<LogEvent, void, undefined> {
  const { signal, key, within } = options
  let after = options.after
  let told = notifier.pages.now()
  let grown = true
  // What others have committed and nobody told is in the log, not at hand.
  let isFirst = true
  let wake = () => {}
  const notice = () => {
    grown = true
    told = notifier.pages.now()
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
          (isFirst ? undefined : atHand(notifier, options, after)) ?? (await readShared(notifier, options, after, told))
        isFirst = false
        for (const event of page.events) {
          if (signal.aborted) return
          after = event.logId
          yield event
        }
        after = Math.max(after, page.upTo)
      } while (page.more)
      options.onIdle?.()
    }
  } finally {
    stop()
    signal.removeEventListener('abort', notice)
  }
}

/** The next events of an agent that were appended here a moment ago. Undefined: ask the log. */
function atHand(
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

function readShared(notifier: LogNotifier, options: FollowOptions, after: number, told: number): Promise<Page> {
  const { key, pageSize = pageSizeDefault } = options
  const read = async (from: number): Promise<Page> => {
    const head = (await options.head?.()) ?? from
    const events = await options.read(from, pageSize)
    const more = events.length === pageSize
    const last = events.at(-1)?.logId ?? from
    return { events, upTo: more ? last : Math.max(head, last), more }
  }
  return notifier.isShared(key) ? notifier.pages.read(key, { after, told }, read) : read(after)
}
