import { listSubscriptions } from '../../registry/subscriptions/subscription-store.ts'
import type { Reader } from '../../storage/database.ts'
import { isDeliverable } from '../../words/targets.ts'
import { type RouteRecord, strongestStep } from '../rules/route-choice.ts'
import { listDeliveries } from '../store/delivery-store.ts'

/** The subscriptions and the deliveries of each that are looked at. */
const subscriptionsMax = 20
const deliveriesMax = 20

interface ProvedRoute extends RouteRecord {
  /** When the newest wake arrived, or was reported on, ms since the epoch; null: none has. */
  readonly provedAt: number | null
}

/** Returns the routes of a session: the subscriptions that it opened and those of its agent, with what their newest deliveries proved. */
export async function readRoutes(
  db: Reader,
  { id, agentId }: { readonly id: string; readonly agentId: string },
): Promise<ProvedRoute[]> {
  const own = await listSubscriptions(db, agentId)
  const routes = own.filter(
    ({ sessionId, harnessTarget }) => (sessionId === null || sessionId === id) && isDeliverable(harnessTarget),
  )
  return Promise.all(
    routes.slice(-subscriptionsMax).map(async ({ id: subscriptionId, trigger, harnessTarget, status }) => {
      const deliveries = await listDeliveries(db, subscriptionId, '', deliveriesMax)
      const arrived = deliveries.find(({ outcome }) => outcome === 'delivered' || outcome === 'written')
      return {
        subscriptionId,
        trigger,
        harnessTarget,
        isOpen: status === 'active',
        proved: strongestStep(deliveries),
        provedAt: arrived?.updatedAt ?? null,
      }
    }),
  )
}
