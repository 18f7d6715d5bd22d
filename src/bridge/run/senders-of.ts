import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { isJsonObject } from '../../lib/json.ts'
import { namedSenders } from '../sender.ts'

const limit = 100
/** Of a digest that does not list all that it is about. */
const pagesMax = 10
const timeoutMs = 10_000
export const sendersMax = 20
/** A message is as old as its event, but for the digits that an instant has. */
const slackMs = 1_000

/**
 * The agents whose acts a wake is about, at most 20. A digest names its messages but not their senders, which are read from the inbox. A
 * digest that lists only its first hundred messages counts for the senders of all mail since then, so that a busy sender hides no other. If
 * the gateway does not answer: the senders that the wake names.
 */
export async function sendersOf(gateway: GatewayClient, wake: Wake, signal: AbortSignal): Promise<readonly string[]> {
  const named = namedSenders(wake)
  const { refs, windowStart } = wake.payload
  const ids = new Set(Array.isArray(refs) ? refs.map((one) => (isJsonObject(one) ? one.messageId : undefined)) : [])
  const since = Date.parse(String(windowStart)) - slackMs
  if (wake.eventType !== 'wake/digest' || ids.size < 2 || Number.isNaN(since)) return named
  try {
    const isPart = wake.payload.refsTruncated === true
    const found = new Set(named)
    let pageToken: string | undefined
    for (let page = 0; page < (isPart ? pagesMax : 1) && found.size < sendersMax; page++) {
      const query = { since: new Date(since).toISOString(), order: 'newest', limit, pageToken } as const
      const answer = await gateway.call('GET /v1/inbox', { query, mail: 'none', signal, timeoutMs })
      for (const { messageId, from } of answer.messages) if (isPart || ids.has(messageId)) found.add(from)
      pageToken = answer.nextPageToken
      if (!pageToken) break
    }
    return [...found].slice(0, sendersMax)
  } catch {
    return named
  }
}
