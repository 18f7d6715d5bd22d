import { Problem } from '../../../errors.ts'
import type { LogEvent } from '../../../log/event.ts'
import { logBounds, readAudienceEvents, readProjectEvents } from '../../../log/event-store.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { Reader } from '../../../storage/database.ts'

/** The events that a caller sees after a `logId`: the operator all of the project, an agent what concerns it. */
export function readEvents(db: Reader, caller: Caller, after: number, limit: number): Promise<LogEvent[]> {
  return caller.kind === 'operator'
    ? readProjectEvents(db, caller.projectId, after, limit)
    : readAudienceEvents(db, caller.projectId, caller.id, after, limit)
}

/** Refuses a `since` that is not in the log. Errors: `watermark-ahead`, `watermark-expired`. */
export async function requireKept(db: Reader, caller: Caller, since: number): Promise<void> {
  const { head, prunedTo } = await logBounds(db, caller.projectId)
  if (since > head) {
    throw new Problem('watermark-ahead', {
      field: 'since',
      detail: `since: the log ends at ${head}. Send the logId of the last event that you saw.`,
      extra: { lastLogId: head },
    })
  }
  if (since >= prunedTo) return
  throw new Problem('watermark-expired', {
    field: 'since',
    detail: `since: events up to ${prunedTo} are no longer kept. Start from ${prunedTo}.`,
    extra: { earliestLogId: prunedTo },
  })
}
