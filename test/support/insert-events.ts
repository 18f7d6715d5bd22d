import type { LogEvent, NewEvent } from '../../src/log/event.ts'
import { numberEvents, writeEvents } from '../../src/log/event-store.ts'
import type { Transaction } from '../../src/storage/database.ts'

/** Writes events into a log that nobody listens to, and answers them with their logIds. */
export async function insertEvents(
  tx: Transaction,
  projectId: string,
  events: readonly NewEvent[],
): Promise<LogEvent[]> {
  const numbered = await numberEvents(tx, projectId, events)
  await writeEvents(tx, numbered, events)
  return numbered
}
