import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { readTraceparent } from '../../lib/trace-parent.ts'

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
