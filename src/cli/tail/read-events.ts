import type { GatewayClient } from '../gateway-client.ts'
import type { EventView } from '../views/event-view.ts'

const pageSize = 200

/** Every event after `since`, page by page, until the log's end. */
export async function* readEvents(gateway: GatewayClient, since: number): AsyncGenerator<EventView, void, undefined> {
  let after = since
  for (;;) {
    const page = await gateway.call<{ events?: EventView[] }>('GET', '/v1/events', {
      query: { since: after, limit: pageSize },
    })
    const fresh = (page.events ?? []).filter((event) => event.logId > after)
    if (fresh.length === 0) return
    yield* fresh
    after = fresh.at(-1)!.logId
  }
}
