import { presenceOf } from '../../registry/sessions/presence.ts'
import { newestLiveSession } from '../../registry/sessions/session-store.ts'
import { lockSubscription } from '../../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../../storage/database.ts'
import { type Gate, letsThrough } from '../rules/presence-edge.ts'
import { findHolding, findHoldingOne, forgetReleased, type HoldingSubscription, releaseHeld } from './released-store.ts'

/**
 * Releases the events of an agent's subscriptions that were held because of presence, if it allows them now: each subscription sends one
 * digest. Events that were held by a policy, or because they are the agent's own acts, stay held. Returns the ids of the subscriptions. Source: S1-10…S1-13.
 */
export async function retryHeld(tx: Transaction, agentId: string, presence: Gate): Promise<string[]> {
  const released: string[] = []
  for (const subscription of await findHolding(tx, agentId)) {
    if (await retry(tx, subscription, presence)) released.push(subscription.id)
  }
  return released
}

/** The same for one subscription, by the presence that is known now: its stream, or the time, may have changed what holds. */
export async function retryHeldOf(tx: Transaction, subscriptionId: string): Promise<boolean> {
  const subscription = await findHoldingOne(tx, subscriptionId)
  if (!subscription) return false
  const presence = presenceOf(await newestLiveSession(tx, subscription.audience), tx.now)
  return retry(tx, subscription, presence)
}

async function retry(tx: Transaction, subscription: HoldingSubscription, presence: Gate): Promise<boolean> {
  if (!letsThrough(subscription, presence)) return false
  // Of two that release the same events, the second finds none.
  await lockSubscription(tx, subscription.id)
  if (!(await findHoldingOne(tx, subscription.id))) return false
  await forgetReleased(tx, subscription.id)
  return releaseHeld(tx, subscription.id)
}
