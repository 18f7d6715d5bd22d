import type { Caller } from '../registry/callers/caller.ts'
import { noteEnded } from '../registry/subscriptions/removed-store.ts'
import { deleteSubscription } from '../registry/subscriptions/subscription-store.ts'
import type { SubscriptionContext } from './context.ts'
import { requireSubscription } from './read.ts'
import { subscriptionEvent } from './subscription-event.ts'

/** Removes a subscription for good. A client of MCP is notified. Errors: `subscription-not-found`. */
export async function unsubscribe(context: SubscriptionContext, caller: Caller, id: string): Promise<void> {
  await context.db.transaction(async (tx) => {
    const subscription = await requireSubscription(tx, caller, id)
    await noteEnded(tx, [subscription], 'removed')
    await deleteSubscription(tx, id)
    await context.append(tx, subscription.projectId, [
      subscriptionEvent('subscription.removed', caller, subscription, {}),
    ])
  })
  context.changed(id)
}
