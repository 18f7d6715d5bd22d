import { Router } from 'express'
import type { JsonObject } from '../../lib/json.ts'
import { pageLimits } from '../../limits.ts'
import { logBounds } from '../../log/event-store.ts'
import { identitiesOf, identityOf } from '../../registry/agents/agents.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { SubscriptionContext } from '../../subscriptions/context.ts'
import { listOwnSubscriptions, requireSubscription } from '../../subscriptions/read.ts'
import { replayDeliveries } from '../../subscriptions/replay.ts'
import { resyncSubscription } from '../../subscriptions/resync.ts'
import { sendTest } from '../../subscriptions/send-test.ts'
import { subscribe } from '../../subscriptions/subscribe.ts'
import { unsubscribe } from '../../subscriptions/unsubscribe.ts'
import { updateSubscription } from '../../subscriptions/update.ts'
import { listDeliveries } from '../../wakes/store/delivery-store.ts'
import { listHeld } from '../../wakes/store/held-store.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { paged, pageToken, readPageToken } from './page-token.ts'
import { deliveriesQuery, replayInput, resyncInput, subscribeInput, subscriptionQuery, updateInput } from './schemas.ts'
import { heldQuery } from './session-schemas.ts'
import { heldView } from './session-views.ts'
import { deliveryView, subscriptionView } from './views.ts'

const deliveriesDefault = 50
const heldDefault = 50

/** `/v1/wake-subscriptions`: the five actions of S1-43 as REST, the test, what was delivered, and what was not. */
export function wakeSubscriptionRoutes(context: SubscriptionContext): Router {
  const router = Router()
  const view = async (subscription: WakeSubscription): Promise<JsonObject> => {
    const { tail } = await logBounds(context.db, subscription.projectId)
    const agentIdentity = await identityOf(context.db, subscription.agentId)
    return subscriptionView(subscription, agentIdentity, tail, context.clock.now())
  }

  router.post('/', async (req, res) => {
    const made = await subscribe(context, callerOf(res), parse(subscribeInput, req.body))
    res.status(201).location(`/v1/wake-subscriptions/${made.subscriptionId}`).json(made)
  })
  router.get('/', async (req, res) => {
    const caller = callerOf(res)
    const { agent, limit = pageLimits.listPage.max, pageToken: after } = parse(subscriptionQuery, req.query)
    const page = { ...readPageToken(after), limit: limit + 1 }
    const found = await listOwnSubscriptions(context.db, caller, page, agent)
    const { items, nextPageToken } = paged(found, limit, pageToken)
    // Three queries for the whole page, however many there are.
    const { tail } = await logBounds(context.db, caller.projectId)
    const identity = await identitiesOf(
      context.db,
      items.map(({ agentId }) => agentId),
    )
    const now = context.clock.now()
    const subscriptions = items.map((item) => subscriptionView(item, identity(item.agentId), tail, now))
    res.json({ subscriptions, nextPageToken })
  })
  router.get('/:id', async (req, res) => {
    res.json(await view(await requireSubscription(context.db, callerOf(res), req.params.id)))
  })
  router.patch('/:id', async (req, res) => {
    const { subscription, signingKey } = await updateSubscription(
      context,
      callerOf(res),
      req.params.id,
      parse(updateInput, req.body),
    )
    res.json({
      subscriptionId: subscription.id,
      currentState: await view(subscription),
      ...(signingKey ? { signingKey } : {}),
    })
  })
  router.delete('/:id', async (req, res) => {
    await unsubscribe(context, callerOf(res), req.params.id)
    res.json({ subscriptionId: req.params.id, status: 'removed' })
  })
  router.post('/:id/resync', async (req, res) => {
    const { sinceLogId } = parse(resyncInput, req.body)
    res.json(await resyncSubscription(context, callerOf(res), req.params.id, sinceLogId))
  })
  router.post('/:id/replay', async (req, res) => {
    res.json(await replayDeliveries(context, callerOf(res), req.params.id, parse(replayInput, req.body)))
  })
  router.post('/:id/test', async (req, res) => {
    res.json(await sendTest(context, callerOf(res), req.params.id))
  })
  router.get('/:id/deliveries', async (req, res) => {
    const { id } = await requireSubscription(context.db, callerOf(res), req.params.id)
    const { limit = deliveriesDefault, pageToken = '' } = parse(deliveriesQuery, req.query)
    const found = await listDeliveries(context.db, id, pageToken, limit + 1)
    const deliveries = found.slice(0, limit)
    const nextPageToken = found.length > limit ? (deliveries.at(-1)?.eventId ?? '') : ''
    res.json({ deliveries: deliveries.map((delivery) => deliveryView(delivery, callerOf(res))), nextPageToken })
  })
  router.get('/:id/held', async (req, res) => {
    const { id } = await requireSubscription(context.db, callerOf(res), req.params.id)
    const { limit = heldDefault, pageToken = Number.MAX_SAFE_INTEGER } = parse(heldQuery, req.query)
    const found = await listHeld(context.db, id, pageToken, limit + 1)
    const held = found.slice(0, limit)
    const nextPageToken = found.length > limit ? String(held.at(-1)!.event.logId) : ''
    res.json({ held: held.map(heldView), nextPageToken })
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:id', onlyMethods('GET', 'PATCH', 'DELETE'))
  router.all(['/:id/resync', '/:id/test'], onlyMethods('POST'))
  router.all(['/:id/deliveries', '/:id/held'], onlyMethods('GET'))
  return router
}
