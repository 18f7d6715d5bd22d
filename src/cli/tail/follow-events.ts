import { sleep, systemClock } from '../../lib/clock.ts'
import { isJsonObject } from '../../lib/json.ts'
import { Refused, Unreachable } from '../failure.ts'
import type { GatewayClient } from '../gateway-client.ts'
import type { EventView } from '../views/event-view.ts'
import { readEventStream, type StreamEvent } from './event-stream.ts'

const reconnectMs = 1_000
const reconnectMsMax = 30_000

const noStream = { title: 'The gateway answered without a live stream', status: 200 }

interface FollowOptions {
  since: number | undefined
  signal: AbortSignal | undefined
  note: (text: string) => void
}

/**
 * The live log, each event once. A connection that breaks is opened again behind the last event seen; only a
 * gateway that was never reached, or that refuses, ends it.
 */
export async function* followEvents(
  gateway: GatewayClient,
  { since, signal, note }: FollowOptions,
): AsyncGenerator<EventView, void, undefined> {
  let last = since
  let delayMs = reconnectMs
  let connected = false
  let noted = false
  while (!signal?.aborted) {
    try {
      const response = await gateway.open('/v1/events', { query: { since: last }, headers: streamHeaders(last) })
      if (!/^text\/event-stream\b/.test(response.headers.get('content-type') ?? '')) throw new Refused(noStream)
      connected = true
      noted = false
      for await (const item of readEventStream(response.body ?? noBody())) {
        delayMs = Math.min(item.retryMs ?? delayMs, reconnectMsMax)
        const event = eventOf(item)
        if (!event || (last !== undefined && event.logId <= last)) continue
        last = event.logId
        yield event
      }
    } catch (error) {
      if (signal?.aborted) throw error
      if (!connected || !mayPass(error)) throw error
    }
    if (signal?.aborted) break
    if (!noted) note(`The stream ended${last === undefined ? '' : ` after event ${last}`}; connecting again …`)
    noted = true
    await sleep(systemClock, delayMs, signal)
  }
  signal?.throwIfAborted()
}

function streamHeaders(last: number | undefined): Record<string, string> {
  const headers = { accept: 'text/event-stream' }
  return last === undefined ? headers : { ...headers, 'last-event-id': String(last) }
}

/** A gateway that is away or in trouble may come back; one that says no will say it again. */
function mayPass(error: unknown): boolean {
  if (error instanceof Refused) return Number(error.problem.status) >= 500
  // A body that breaks off is the transport's own error type.
  return error instanceof Unreachable || error instanceof TypeError
}

function eventOf(item: StreamEvent): EventView | undefined {
  let value: unknown
  try {
    value = JSON.parse(item.data)
  } catch {
    return undefined
  }
  if (!isJsonObject(value)) return undefined
  const logId = typeof value.logId === 'number' ? value.logId : item.id ? Number(item.id) : Number.NaN
  return Number.isSafeInteger(logId) ? { ...value, logId } : undefined
}

async function* noBody(): AsyncGenerator<Uint8Array, void, undefined> {}
