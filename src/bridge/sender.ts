import type { Wake } from '../client/wakes/wake.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'

const nameMax = 200

/**
 * The agents whose acts a wake is about, as far as it says: of a task the other one of its two, of a digest those of the newest act of
 * each kind, the message first. Pure.
 */
export function namedSenders({ payload, agentIdentity }: Wake): string[] {
  const { latestMessage, latestTaskTransition, latestPermission } = payload
  const acts = [payload, latestMessage, latestTaskTransition, latestPermission].filter(isJsonObject)
  const named = acts.map((act) => actorOf(act, agentIdentity)).filter((one) => one !== undefined)
  return [...new Set(named.map((one) => one.slice(0, nameMax)))]
}

/** The first of them; null: the wake does not say. Pure. */
export const senderOf = (wake: Wake): string | null => namedSenders(wake)[0] ?? null

function actorOf(act: JsonObject, own: string | undefined): string | undefined {
  const { from, grantedBy, recipient, originator, assignee } = act
  const named = [from, grantedBy, recipient, ...[originator, assignee].filter((one) => one !== own)]
  return named.find((one): one is string => typeof one === 'string' && one !== '')
}
