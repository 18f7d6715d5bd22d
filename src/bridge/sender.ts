import type { Wake } from '../client/wakes/wake.ts'
import { isJsonObject } from '../lib/json.ts'

/**
 * The agent whose act a wake is about: of a task the other one of its two, of a digest that of the newest message, else of the newest
 * task. null: the wake does not say. Pure.
 */
export function senderOf({ payload, agentIdentity }: Wake): string | null {
  const { latestMessage, latestTaskTransition } = payload
  const acts = [payload, latestMessage, latestTaskTransition].filter(isJsonObject)
  const named = acts
    .flatMap(({ from, grantedBy, recipient, originator, assignee }) => [
      from,
      grantedBy,
      recipient,
      ...[originator, assignee].filter((one) => one !== agentIdentity),
    ])
    .find((one) => typeof one === 'string' && one !== '')
  return typeof named === 'string' ? named.slice(0, 200) : null
}
