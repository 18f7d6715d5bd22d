import type { GatewayClient } from '../../client/gateway-client.ts'
import type { EventView } from '../../client/route-types.ts'

const pageSize = 200

/** Every event after `since`, page by page, until the log's end. */
export async function* readEvents(gateway: GatewayClient, since: number): AsyncGenerator<EventView, void, undefined> {
  let after = since
  for (;;) {
    const { events } = await gateway.call('GET /v1/events', { query: { since: after, limit: pageSize } })
    const fresh = events.filter((event) => event.logId > after)
    if (fresh.length === 0) return
    yield* fresh
    after = fresh.at(-1)!.logId
  }
}
