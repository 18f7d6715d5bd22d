import type { JsonObject } from '../lib/json.ts'
import { int, json, nullable, type RowOf, text, word } from '../storage/columns.ts'
import { RowTable } from '../storage/row-table.ts'
import type { EventType } from '../words/events.ts'

export const eventFields = {
  projectId: text,
  logId: int,
  type: word<EventType>(),
  taskId: nullable(text),
  actor: text,
  actorId: nullable(text),
  data: json<JsonObject>(),
  /** ms since the epoch */
  createdAt: int,
}
/** A row of the log. */
export type EventRow = RowOf<typeof eventFields>

export const events = new RowTable('event', eventFields)
