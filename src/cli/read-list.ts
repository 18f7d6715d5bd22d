import type { GatewayClient } from './gateway-client.ts'

/** A list that is longer than this is asked for with the API. */
const pagesMax = 200

/** Reads a list of the gateway page by page. Returns it as one answer, as if it had one page. */
export async function readList<Item>(
  gateway: GatewayClient,
  path: string,
  field: string,
): Promise<{ readonly [field: string]: Item[] }> {
  const items: Item[] = []
  let pageToken: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const answer = await gateway.call<Record<string, unknown>>('GET', path, { query: { pageToken } })
    items.push(...((answer[field] as Item[] | undefined) ?? []))
    pageToken = (answer.nextPageToken as string | undefined) || undefined
    if (pageToken === undefined) break
  }
  return { [field]: items }
}
