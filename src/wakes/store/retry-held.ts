import { newestLiveSession } from '../../registry/sessions/session-lists.ts'
import { lockSubscriptions } from '../../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../../storage/database.ts'
import { presenceOf } from '../../words/presence.ts'
import { type Gate, letsThrough } from '../rules/presence-edge.ts'
import {
  findHolding,
  findHoldingAmong,
  forgetReleased,
  type HoldingSubscription,
  releaseHeld,
} from './released-store.ts'

/** The most subscriptions that one transaction releases events of: it writes each held event. */
export const releaseStep = 25

/** The ids of subscriptions that a change of presence has released, and of those to be released after its transaction. */
interface Retried {
  readonly released: readonly string[]
  readonly left: readonly string[]
}

/**
 * Releases the events of an agent's subscriptions that were held because of presence, if it allows them now: each subscription sends one
 * digest. Events that were held by a policy, or because they are the agent's own acts, stay held. Where there are many subscriptions, most
 * are left for `releaseLeft`. Source: S1-10…S1-13.
 */
export async function retryHeld(tx: Transaction, agentId: string, presence: Gate): Promise<Retried> {
  const free = (await findHolding(tx, agentId)).filter((one) => letsThrough(one, presence))
  const released = await retry(tx, free.slice(0, releaseStep), () => presence)
  return { released, left: free.slice(releaseStep).map(({ id }) => id) }
}

/** The same for these subscriptions, by the presence that is known now: their stream, or the time, may have changed what holds. */
export async function retryHeldOf(tx: Transaction, subscriptionIds: readonly string[]): Promise<string[]> {
  const holding = await findHoldingAmong(tx, subscriptionIds)
  const presences = new Map<string, Gate>()
  for (const { audience } of holding) {
    if (presences.has(audience)) continue
    presences.set(audience, presenceOf(await newestLiveSession(tx, audience), tx.now))
  }
  return retry(tx, holding, ({ audience }) => presences.get(audience)!)
}

async function retry(
  tx: Transaction,
  holding: readonly HoldingSubscription[],
  presence: (subscription: HoldingSubscription) => Gate,
): Promise<string[]> {
  const ids = holding.filter((one) => letsThrough(one, presence(one))).map(({ id }) => id)
  if (ids.length === 0) return []
  // Of two that release the same events, the second finds none.
  await lockSubscriptions(tx, ids)
  const still = (await findHoldingAmong(tx, ids)).map(({ id }) => id)
  await forgetReleased(tx, still)
  return releaseHeld(tx, still)
}
