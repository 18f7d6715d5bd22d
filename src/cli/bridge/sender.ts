import { isJsonObject } from '../../lib/json.ts'
import type { Wake } from './../listen/wake.ts'

/** The agent whose act a wake is about; of a digest, of its newest message. null: the wake does not say. Pure. */
export function senderOf({ payload }: Wake): string | null {
  const { from, grantedBy, latestMessage, recipient } = payload
  const ofDigest = isJsonObject(latestMessage) ? latestMessage.from : undefined
  const named = [from, grantedBy, recipient, ofDigest].find((one) => typeof one === 'string' && one !== '')
  return typeof named === 'string' ? named.slice(0, 200) : null
}
