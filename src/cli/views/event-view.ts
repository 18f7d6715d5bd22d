import type { JsonObject } from '../../lib/json.ts'
import { clip, plain } from '../terminal-text.ts'

/** One row of the log as the gateway shows it. */
export interface EventView {
  logId: number
  type?: string
  actor?: string
  taskId?: string | null
  data?: JsonObject
  createdAt?: string | number
  at?: string
}

const detailLengthMax = 160

export function eventLine(event: EventView): string {
  const time = event.createdAt ?? event.at
  const columns = [
    String(event.logId).padStart(6),
    typeof time === 'number' ? new Date(time).toISOString() : plain(time),
    plain(event.type ?? 'event').padEnd(22),
    plain(event.actor).padEnd(12),
    plain(event.taskId),
    event.data && Object.keys(event.data).length > 0 ? clip(plain(event.data), detailLengthMax) : '',
  ]
  return columns.filter(Boolean).join('  ').trimEnd()
}
