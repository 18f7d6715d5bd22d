import { readEventStream, type StreamEvent } from '../../client/event-stream.ts'
import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { EventView } from '../../client/route-types.ts'
import { mayPass } from '../../client/wakes/streamed-wakes.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { isJsonObject } from '../../lib/json.ts'

const reconnectMs = 1_000
const reconnectMsMax = 30_000

const noStream = { title: 'The gateway answered without a live stream', status: 200 }

interface FollowOptions {
  since: number | undefined
  signal: AbortSignal | undefined
  note: (text: string) => void
  /** Called with each connection that has opened: what happens from then on is reported. */
  onOpen?: () => void
}

/**
 * The live log, each event once. A broken connection is opened again after the last event seen. Errors: of a gateway that was
 * never reached, or that refuses.
 */
export async function* followEvents(
  gateway: GatewayClient,
  { since, signal, note, onOpen }: FollowOptions,
): AsyncGenerator<EventView, void, undefined> {
  let last = since
  let delayMs = reconnectMs
  let connected = false
  let noted = false
  while (!signal?.aborted) {
    try {
      const after: Record<string, string> = last === undefined ? {} : { 'last-event-id': String(last) }
      const headers = { accept: 'text/event-stream', ...after }
      const response = await gateway.open('/v1/events', { query: { since: last }, headers, signal })
      if (!/^text\/event-stream\b/.test(response.headers.get('content-type') ?? '')) throw new Refused(noStream)
      connected = true
      noted = false
      onOpen?.()
      for await (const item of readEventStream(response.body)) {
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

function eventOf(item: StreamEvent): EventView | undefined {
  try {
    const value: unknown = JSON.parse(item.data)
    return isJsonObject(value) && Number.isSafeInteger(value.logId) ? (value as unknown as EventView) : undefined
  } catch {
    return undefined
  }
}
