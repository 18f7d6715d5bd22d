import { type Clock, sleep } from '../../../lib/clock.ts'
import { follow } from '../../../log/follow.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { FrontContext } from '../../front-context.ts'
import { sourceFor } from '../../rest/events/stream.ts'
import { resourcesOf } from '../resources/resources-of.ts'

/** A subscriber to changes of resources. */
interface ResourceSubscriber {
  readonly caller: Caller
  /** Events up to this `logId` are known. */
  readonly after: number
  readonly signal: AbortSignal
  /** Returns those of changed resources that the reader wants. `logId`: of the event that changed them. */
  readonly wanted: (uris: readonly string[], logId: number) => readonly string[]
  readonly tell: (uri: string) => void
  /** Resolves when the reader has read the notifications. */
  readonly taken: () => Promise<void>
  /** Called when nothing more is known to have changed. */
  readonly onIdle?: () => void
}

const pageSize = 50
const outageMs = 1_000
/** Changes of one resource within this time are one notification. */
const gapMs = 100

/**
 * Notifies a reader of the resources of its caller that have changed, as the caller may see it, until the signal aborts: the first time at once, then
 * at most every 100 ms, and only when it has read the earlier notifications. Meanwhile only a set of URIs is kept, however much changes.
 * After a failure of the store it goes on where it was. Never rejects.
 */
export async function tellChanges(context: FrontContext, told: ResourceSubscriber): Promise<void> {
  const { db, notifier, clock, log } = context
  const { caller, signal, wanted, onIdle } = told
  const add = pacedTelling(clock, told)
  for (let after = told.after; !signal.aborted; ) {
    try {
      const source = { ...sourceFor(db, caller), after, signal, pageSize, ...(onIdle ? { onIdle } : {}) }
      for await (const event of follow(notifier, source)) {
        after = event.logId
        add(wanted(resourcesOf(event, caller), after))
      }
    } catch (err) {
      log.warn({ err, agent: caller.identity }, 'mcp_feed.failed')
      await sleep(clock, outageMs, signal)
    }
  }
}

/** Returns the function that notes a changed resource: each is sent once, after the subscriber has read the batch before it. */
export function pacedTelling(
  clock: Clock,
  { signal, tell, taken }: Pick<ResourceSubscriber, 'signal' | 'tell' | 'taken'>,
): (uris: readonly string[]) => void {
  const changed = new Set<string>()
  let isTelling = false
  const run = async (): Promise<void> => {
    while (changed.size > 0 && !signal.aborted) {
      await taken()
      if (signal.aborted) break
      const uris = [...changed]
      changed.clear()
      for (const uri of uris) tell(uri)
      await sleep(clock, gapMs, signal)
    }
    isTelling = false
  }
  return (uris) => {
    for (const uri of uris) changed.add(uri)
    if (isTelling || changed.size === 0) return
    isTelling = true
    void run()
  }
}
