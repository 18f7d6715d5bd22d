import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { readTraceparent } from '../../lib/trace-parent.ts'
import { clip, plain } from '../terminal-text.ts'
import { nudge, nudgeText } from './nudge-text.ts'

/** The fields of a wake's body that the receiver reads. */
export interface Wake {
  eventType: string
  eventId: string
  logId?: number | null
  prevLogId?: number | null
  agentIdentity?: string
  subscriptionId?: string
  payload: JsonObject
  emittedAt?: string
  /** The trace that it continues, from its headers. */
  traceparent?: string | undefined
}

const detailLengthMax = 200

/** @param traceparent the header of that name, as it came */
export function parseWake(body: Buffer, traceparent?: string): Wake | undefined {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
  if (!isJsonObject(value) || typeof value.eventId !== 'string' || typeof value.eventType !== 'string') return undefined
  const payload = isJsonObject(value.payload) ? value.payload : {}
  return { ...(value as unknown as Wake), payload, traceparent: readTraceparent(traceparent) }
}

export function wakeLine(wake: Wake): string {
  const columns = [
    plain(wake.emittedAt),
    wake.logId === undefined || wake.logId === null ? '' : `#${wake.logId}`,
    plain(wake.eventType),
    plain(wake.agentIdentity),
    clip(detail(wake), detailLengthMax),
  ]
  return columns.filter(Boolean).join('  ')
}

/** A line for people about each kind of wake. The JSON has everything. */
function detail({ eventType, payload }: Wake): string {
  switch (eventType) {
    case 'wake/sent_to_me':
      // A part of a digest has ids only.
      return payload.from === undefined ? plain(payload) : `from ${plain(payload.from)}: ${plain(payload.subject)}`
    case 'wake/task_state_changed':
      return `task ${plain(payload.taskId)}: ${plain(payload.previousState ?? 'new')} → ${plain(payload.newState)}`
    case 'wake/permission_granted':
      return `${plain(payload.scope)} by ${plain(payload.grantedBy)}`
    case 'wake/digest':
      return plain(payload.summary)
    case nudge: {
      const { why, next } = nudgeText(payload)
      return `${why} ${next}`
    }
    default:
      return Object.keys(payload).length > 0 ? plain(payload) : ''
  }
}
