import { isJsonObject } from '../lib/json.ts'
import type { GatewayClient } from './gateway-client.ts'
import { plain } from './terminal-text.ts'

/** The other subscriptions of its agent that start a turn for the same mail. A gateway of an older version does not say. Pure. */
export function overlapsOf(subscription: unknown): string[] {
  const { overlaps } = isJsonObject(subscription) ? subscription : {}
  return Array.isArray(overlaps) ? overlaps.filter((id) => typeof id === 'string') : []
}

/** Returns a text for each other route that starts a turn for what these subscriptions bring. Empty if the gateway does not answer. */
export async function readOverlaps(gateway: GatewayClient, ids: readonly string[]): Promise<string[]> {
  const read = (id: string) => gateway.call('GET /v1/wake-subscriptions/:id', { params: { id }, mail: 'none' })
  const found = await Promise.all(ids.map((id) => read(id).catch(() => undefined)))
  const others = [...new Set(found.flatMap(overlapsOf))].filter((id) => !ids.includes(id)).map((id) => plain(id))
  return others.map((id) => `the same mail also starts a turn by ${id}. To end that one: rouse sub rm ${id}`)
}
