import type { LogEvent } from './event.ts'
import type { LiveTail } from './live-tail.ts'

const pageSize = 200

interface FollowOptions {
  /** What to listen to: a project's id or a task's id. */
  key: string
  /** The watermark to start behind. */
  after: number
  /** Reads the next page from the log, in order. */
  read: (after: number, limit: number) => Promise<LogEvent[]>
  signal: AbortSignal
  /** Called when the follower has caught up and would wait. */
  onIdle?: () => void
}

/**
 * Everything after a watermark, then everything as it is committed, each event once and in order. The live tail
 * only says when to look; what is looked at is the log. Ends when the signal aborts.
 */
export async function* follow(tail: LiveTail, options: FollowOptions): AsyncGenerator<LogEvent, void, undefined> {
  const { signal } = options
  let after = options.after
  let grown = true
  let wake = () => {}
  const notice = () => {
    grown = true
    wake()
  }
  const stop = tail.listen(options.key, notice)
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
      let page: LogEvent[]
      do {
        page = await options.read(after, pageSize)
        for (const event of page) {
          if (signal.aborted) return
          after = event.logId
          yield event
        }
      } while (page.length === pageSize)
      options.onIdle?.()
    }
  } finally {
    stop()
    signal.removeEventListener('abort', notice)
  }
}
