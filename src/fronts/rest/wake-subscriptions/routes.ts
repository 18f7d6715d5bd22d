import { logBounds } from '../../../log/event-store.ts'
import { createFindDelivered } from '../../../mailbox/delivery/already-delivered.ts'
import { identitiesOf, identityOf } from '../../../registry/agents/identity.ts'
import { type Caller, operates } from '../../../registry/callers/caller.ts'
import type { WakeSubscription } from '../../../registry/subscriptions/subscription.ts'
import { listSubscriptions } from '../../../registry/subscriptions/subscription-store.ts'
import type { SubscriptionContext } from '../../../subscriptions/context.ts'
import { listOwnSubscriptions, requireSubscription } from '../../../subscriptions/read.ts'
import { replayDeliveries } from '../../../subscriptions/replay.ts'
import { resyncSubscription } from '../../../subscriptions/resync.ts'
import { sendTest } from '../../../subscriptions/send-test.ts'
import { subscribe } from '../../../subscriptions/subscribe.ts'
import { unsubscribe } from '../../../subscriptions/unsubscribe.ts'
import { updateSubscription } from '../../../subscriptions/update.ts'
import { listUnsent } from '../../../wakes/read/non-wakes.ts'
import { overlapsOf } from '../../../wakes/rules/overlaps.ts'
import { readDeliveryPage } from '../../../wakes/store/delivery-store.ts'
import { readRetrying } from '../../../wakes/store/retrying-store.ts'
import { listMax, nextToken, positionToken, readPosition } from '../page.ts'
import { route } from '../route.ts'
import { sessionOf } from '../session-header.ts'
import {
  deliveryQuery,
  heldQuery,
  newSubscription,
  replayInput,
  resyncInput,
  subscriptionChanges,
  subscriptionQuery,
} from './input.ts'
import {
  type ChangedSubscriptionView,
  deliveryView,
  heldView,
  type NewSubscriptionView,
  type ReplayView,
  type ResyncView,
  type SubscriptionView,
  subscriptionView,
  type TestView,
  testView,
} from './view.ts'

const recordsDefault = 50

/** `/v1/wake-subscriptions`: the five actions of S1-43, the test, the record of deliveries, and what was held. */
export const wakeSubscriptionRoutes = [
  route('GET /v1/wake-subscriptions', {
    name: 'subscription.list',
    what: 'list subscriptions',
    access: { scope: 'read', operator: 'any', agent: 'granted', peer: 'never', audited: 'no' },
    query: subscriptionQuery,
    handle: async ({ caller, query }, { subscriptions: context }) => {
      const { agent, subscriptionId, limit = listMax, pageToken } = query
      const { db, clock } = context
      if (subscriptionId !== undefined) {
        const only = await requireSubscription(db, caller, subscriptionId)
        return { subscriptions: [await view(context, only)], nextPageToken: '' }
      }
      const page = { ...readPosition(pageToken), limit }
      const { items, more } = await listOwnSubscriptions(db, caller, page, agent)
      // A few queries for the whole page, whatever its length.
      const { prunedTo } = await logBounds(db, caller.projectId)
      const agentIds = items.map(({ agentId }) => agentId)
      const identity = await identitiesOf(db, agentIds)
      const now = clock.now()
      const retrying = await readRetrying(db, items)
      const viewOf = (item: WakeSubscription) =>
        subscriptionView(item, identity(item.agentId), prunedTo, now, retrying.get(item.id), overlapsOf(item, items))
      const subscriptions = items.map(viewOf)
      return { subscriptions, nextPageToken: nextToken(items, more, positionToken) }
    },
  }),
  route('POST /v1/wake-subscriptions', {
    name: 'subscription.make',
    what: 'subscribe',
    access: { scope: 'manage', operator: 'any', agent: 'granted', peer: 'never', audited: 'first' },
    hasSecret: true,
    body: newSubscription,
    status: 201,
    handle: async ({ caller, body, header, reply }, { subscriptions }): Promise<NewSubscriptionView> => {
      // A process that names its session makes the subscription for as long as that lasts. Source: D26.
      const session = body.agentIdentity === undefined ? sessionOf(header) : undefined
      const made = await subscribe(subscriptions, caller, { ...(session ? { sessionId: session } : {}), ...body })
      reply.headers.Location = `/v1/wake-subscriptions/${made.subscriptionId}`
      return made
    },
  }),
  route('GET /v1/wake-subscriptions/:id', {
    name: 'subscription.read',
    what: 'read a subscription',
    access: { scope: 'read', operator: 'any', agent: 'granted', peer: 'never', audited: 'no' },
    handle: async ({ caller, params }, { subscriptions }) =>
      view(subscriptions, await requireSubscription(subscriptions.db, caller, params.id)),
  }),
  route('PATCH /v1/wake-subscriptions/:id', {
    name: 'subscription.change',
    what: 'change a subscription',
    access: { scope: 'manage', operator: 'any', agent: 'granted', peer: 'never', audited: 'first' },
    hasSecret: true,
    body: subscriptionChanges,
    handle: async ({ caller, params, body }, { subscriptions }): Promise<ChangedSubscriptionView> => {
      const { subscription, signingKey } = await updateSubscription(subscriptions, caller, params.id, body)
      return {
        subscriptionId: subscription.id,
        currentState: await view(subscriptions, subscription),
        ...(signingKey ? { signingKey } : {}),
      }
    },
  }),
  route('DELETE /v1/wake-subscriptions/:id', {
    name: 'subscription.remove',
    what: 'remove a subscription',
    access: { scope: 'manage', operator: 'any', agent: 'granted', peer: 'never', audited: 'first' },
    handle: async ({ caller, params }, { subscriptions }) => {
      await unsubscribe(subscriptions, caller, params.id)
      return { subscriptionId: params.id, status: 'removed' as const }
    },
  }),
  route('POST /v1/wake-subscriptions/:id/resync', {
    name: 'subscription.resync',
    what: 'have the past sent again',
    access: { scope: 'manage', also: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'first' },
    rate: 'heavyPerMinute',
    body: resyncInput,
    handle: async ({ caller, params, body }, { subscriptions }): Promise<ResyncView> =>
      resyncSubscription(subscriptions, caller, params.id, body.sinceLogId),
  }),
  route('POST /v1/wake-subscriptions/:id/replay', {
    name: 'subscription.replay',
    what: 'have the past sent again',
    access: { scope: 'manage', also: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'first' },
    rate: 'heavyPerMinute',
    body: replayInput,
    handle: async ({ caller, params, body }, { subscriptions }): Promise<ReplayView> =>
      replayDeliveries(subscriptions, caller, params.id, body),
  }),
  route('POST /v1/wake-subscriptions/:id/test', {
    name: 'subscription.test',
    what: 'test a subscription',
    access: { scope: 'manage', operator: 'any', agent: 'granted', peer: 'never', audited: 'first' },
    rate: 'heavyPerMinute',
    handle: async ({ caller, params }, { subscriptions }): Promise<TestView> => {
      const { agentId } = await requireSubscription(subscriptions.db, caller, params.id)
      return testView(await sendTest(subscriptions, caller, params.id), isOwn(caller, agentId))
    },
  }),
  route('GET /v1/wake-subscriptions/:id/deliveries', {
    name: 'subscription.deliveries',
    what: 'read deliveries',
    access: { scope: 'read', operator: 'any', agent: 'granted', peer: 'never', audited: 'no' },
    query: deliveryQuery,
    handle: async ({ caller, params, query }, { subscriptions: { db } }) => {
      const { id, agentId } = await requireSubscription(db, caller, params.id)
      const { limit = recordsDefault, pageToken = '' } = query
      const { items, more } = await readDeliveryPage(db, id, pageToken, limit)
      return {
        deliveries: items.map((delivery) => deliveryView(delivery, caller, isOwn(caller, agentId))),
        nextPageToken: nextToken(items, more, ({ eventId }) => eventId),
      }
    },
  }),
  route('GET /v1/wake-subscriptions/:id/held', {
    name: 'subscription.held',
    what: 'read what was held',
    access: { scope: 'read', operator: 'any', agent: 'granted', peer: 'never', audited: 'no' },
    query: heldQuery,
    handle: async ({ caller, params, query }, { subscriptions: { db } }) => {
      const subscription = await requireSubscription(db, caller, params.id)
      const { limit = recordsDefault, pageToken: before = Number.MAX_SAFE_INTEGER } = query
      const page = await listUnsent(db, subscription, createFindDelivered(db), { before, limit })
      return { held: page.items.map(heldView), nextPageToken: String(page.nextBefore ?? '') }
    },
  }),
] as const

/** True when a caller may read the words of the reader of a stream: the agent itself, or its operator. */
function isOwn(caller: Caller, agentId: string): boolean {
  return caller.id === agentId || operates(caller, caller.projectId)
}

async function view({ db, clock }: SubscriptionContext, subscription: WakeSubscription): Promise<SubscriptionView> {
  const { prunedTo } = await logBounds(db, subscription.projectId)
  const identity = await identityOf(db, subscription.agentId)
  const retrying = await readRetrying(db, [subscription])
  const overlaps = overlapsOf(subscription, await listSubscriptions(db, subscription.agentId))
  return subscriptionView(subscription, identity, prunedTo, clock.now(), retrying.get(subscription.id), overlaps)
}
