import type { ServerContext } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../lib/json.ts'
import type { Polled } from '../../../subscriptions/mcp/poll.ts'

/** A frame at least this often, in ms: a heartbeat where nothing happens. */
const heartbeatMs = 25_000
const subscriptionIdKey = 'io.modelcontextprotocol/subscriptionId'

/** The end of a stream, as its last frame reports it. */
interface StreamEnd {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

interface Streamed {
  /** Asks for the next events. Each is asked for alone: so the cursor that comes with it is its own. */
  readonly poll: (given: JsonObject) => Promise<Polled>
  /** Returns what an error is to the client. */
  readonly endOf: (error: unknown) => StreamEnd
}

/**
 * Sends the events of one request as frames until its client is gone or the gateway stops: first `active`, then each `event` with its
 * cursor, and a `heartbeat` in between. A request that is refused has no frame. When the caller may no longer read them, `terminated` is
 * the last frame. Source: SEP-3415, events/stream.
 */
export async function streamEvents({ mcpReq }: ServerContext, { poll, endOf }: Streamed): Promise<JsonObject> {
  const { signal, id } = mcpReq
  const frame = (kind: string, params: JsonObject): Promise<void> =>
    mcpReq.notify({
      method: `notifications/events/${kind}`,
      params: { ...params, _meta: { [subscriptionIdKey]: id } },
    } as Parameters<typeof mcpReq.notify>[0])
  let { cursor, truncated } = await poll({ maxEvents: 0 })
  await frame('active', { cursor, truncated })
  try {
    while (!signal.aborted) {
      const askedAt = performance.now()
      // Frames that a client takes at once would leave no turn to others.
      await new Promise(setImmediate)
      const next = await poll({ cursor, maxEvents: 1, timeoutMs: heartbeatMs })
      ;({ cursor, truncated } = next)
      if (truncated) await frame('active', { cursor, truncated })
      for (const event of next.events) await frame('event', { ...event, cursor })
      if (next.events.length > 0 || truncated) continue
      // A gateway that stops answers early.
      if (!next.hasMore && performance.now() - askedAt < heartbeatMs - 1_000) break
      await frame('heartbeat', { cursor })
    }
  } catch (error) {
    if (!signal.aborted) await frame('terminated', { error: endOf(error) })
  }
  return {}
}
