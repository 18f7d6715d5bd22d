import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { isJsonObject } from '../../lib/json.ts'

const readMax = 20

/**
 * True when the agent has read all mail of a held wake. False, without asking the gateway, for a wake that is not only about mail or has more
 * than twenty messages; false also if the gateway does not answer.
 */
export async function isReadMeanwhile(
  gateway: GatewayClient,
  identity: string,
  wake: Wake,
  signal: AbortSignal,
): Promise<boolean> {
  const ids = mailOf(wake)
  if (ids.length === 0 || ids.length > readMax) return false
  let isThere = false
  for (const id of ids) {
    try {
      const message = await gateway.call('GET /v1/messages/:id', { params: { id }, mail: 'none', signal })
      const own = message.recipients.find(({ agent }) => agent === identity)
      if (own === undefined || own.status === 'sent') return false
      isThere = true
    } catch (error) {
      if (error instanceof Refused && error.problem.status === 404) continue
      return false
    }
  }
  // If none of the messages exists any more, none was read.
  return isThere
}

/** The messages that a wake is about; none where it is about something else too. Pure. */
function mailOf({ eventType, payload }: Wake): string[] {
  const { refs, refsTruncated } = payload
  const references =
    eventType === 'wake/digest' && Array.isArray(refs) && !refsTruncated ? refs : [{ eventType, ...payload }]
  const ids = references.map((one: unknown) =>
    isJsonObject(one) && one.eventType === 'wake/sent_to_me' && typeof one.messageId === 'string'
      ? one.messageId
      : undefined,
  )
  return ids.every((id) => id !== undefined) ? [...new Set(ids)] : []
}
