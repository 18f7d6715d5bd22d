import type { z } from 'zod'
import { requireAgent } from '../../../registry/agents/agents.ts'
import { identitiesOf } from '../../../registry/agents/identity.ts'
import { type Caller, requireSelf } from '../../../registry/callers/caller.ts'
import type { WakeSubscription } from '../../../registry/subscriptions/subscription.ts'
import { findSubscriptions } from '../../../registry/subscriptions/subscription-store.ts'
import { type DeliveryEntry, listProjectDeliveries } from '../../../wakes/store/delivery-list-store.ts'
import type { Trigger } from '../../../words/events.ts'
import type { HarnessTarget } from '../../../words/targets.ts'
import { route } from '../route.ts'
import { type DeliveryView, deliveryView } from '../wake-subscriptions/view.ts'
import { deliveriesQuery } from './input.ts'

const limitDefault = 50

type Query = z.output<typeof deliveriesQuery>

/** The record of a wake, and where it went. */
export interface PlacedDeliveryView extends DeliveryView {
  readonly subscriptionId: string
  /** `@donna` */
  readonly agent: string
  readonly trigger: Trigger
  readonly harnessTarget: HarnessTarget
  /** The address of a webhook. */
  readonly url?: string
}

/** `/v1/deliveries`: the record of wakes, over all subscriptions. */
export const deliveryRoutes = [
  route('GET /v1/deliveries', {
    name: 'delivery.list',
    what: 'read the deliveries of all subscriptions',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: deliveriesQuery,
    handle: async ({ caller, query }, { db }) => {
      const named = query.agent === undefined ? undefined : await requireAgent(db, caller.projectId, query.agent)
      if (named) requireSelf(caller, named.id, 'read the deliveries of an agent')
      const agentId = named?.id ?? (caller.kind === 'agent' ? caller.id : undefined)
      const { limit = limitDefault, pageToken: before = '' } = query
      const matches = (entry: DeliveryEntry) =>
        (agentId === undefined || entry.agentId === agentId) && isWanted(entry, query)
      const page = await listProjectDeliveries(db, { projectId: caller.projectId, matches, before, limit })
      const ids = [...new Set(page.items.map(({ entry }) => entry.subscriptionId))]
      const subscriptions = (await findSubscriptions(db, ids)) as WakeSubscription[]
      const byId = new Map(subscriptions.map((one) => [one.id, one]))
      const identity = await identitiesOf(
        db,
        subscriptions.map((one) => one.agentId),
      )
      const deliveries = page.items.flatMap(({ entry, delivery }): PlacedDeliveryView[] => {
        const of = byId.get(entry.subscriptionId)
        return of ? [placed(deliveryView(delivery, caller, isOwn(caller, of)), of, identity(of.agentId))] : []
      })
      return { deliveries, nextPageToken: page.next }
    },
  }),
] as const

/** Nobody else is answered. */
const isOwn = (caller: Caller, { agentId }: WakeSubscription): boolean =>
  caller.kind === 'operator' || caller.id === agentId

function isWanted({ subscriptionId, outcome, nextAttemptAt, updatedAt }: DeliveryEntry, query: Query): boolean {
  const { endedAfter, endedBefore } = query
  if (query.subscription !== undefined && query.subscription !== subscriptionId) return false
  const isRetrying = nextAttemptAt !== null
  if (query.outcome === 'failed' && outcome !== 'failed' && outcome !== 'rejected') return false
  if (query.outcome === 'retrying' && !isRetrying) return false
  if (query.outcome !== undefined && !['failed', 'retrying', outcome].includes(query.outcome)) return false
  if (endedAfter === undefined && endedBefore === undefined) return true
  const hasEnded = outcome !== 'pending'
  return hasEnded && updatedAt >= (endedAfter ?? 0) && updatedAt <= (endedBefore ?? Number.POSITIVE_INFINITY)
}

function placed(view: DeliveryView, of: WakeSubscription, agent: string): PlacedDeliveryView {
  const { id: subscriptionId, trigger, harnessTarget, target } = of
  const { url } = target
  return { ...view, subscriptionId, agent, trigger, harnessTarget, ...(url === undefined ? {} : { url }) }
}
