import { listSubscriptions } from '../../registry/subscriptions/subscription-store.ts'
import type { Reader } from '../../storage/database.ts'
import { isDeliverable } from '../../words/targets.ts'
import { type RouteRecord, strongestStep } from '../rules/route-choice.ts'
import { listDeliveries } from '../store/delivery-store.ts'

/** The subscriptions and the deliveries of each that are looked at. */
const subscriptionsMax = 20
const deliveriesMax = 20

/** Returns the routes of a session: the subscriptions that it opened and those of its agent, with what their newest deliveries proved. */
export async function readRoutes(
  db: Reader,
  { id, agentId }: { readonly id: string; readonly agentId: string },
): Promise<RouteRecord[]> {
  const own = await listSubscriptions(db, agentId)
  const routes = own.filter(
    ({ sessionId, harnessTarget }) => (sessionId === null || sessionId === id) && isDeliverable(harnessTarget),
  )
  return Promise.all(
    routes.slice(-subscriptionsMax).map(async ({ id: subscriptionId, trigger, harnessTarget, status }) => ({
      subscriptionId,
      trigger,
      harnessTarget,
      isOpen: status === 'active',
      proved: strongestStep(await listDeliveries(db, subscriptionId, '', deliveriesMax)),
    })),
  )
}
