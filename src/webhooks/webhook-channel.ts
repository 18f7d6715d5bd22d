import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { Channel, SignWake, TestOrder } from '../wakes/channel.ts'
import { deliverWithRetries, type WebhookRequest, type WebhookTools } from './attempts.ts'
import { attemptTest } from './test-attempt.ts'

/** `a2a-webhook`: the wake as a signed POST. Source: S1-33, S1-34. */
export function createWebhookChannel(tools: WebhookTools, sign: SignWake): Channel<WakeSubscription> {
  return {
    deliver: (order) => deliverWithRetries(tools, order, requestFor(order)),
    attempt: (order) => attemptTest(tools, order, requestFor(order)),
  }

  function requestFor(order: Omit<TestOrder<WakeSubscription>, 'signal'>): () => WebhookRequest {
    const { id, target } = order.subscription
    const { url } = target
    if (!url) throw new Error(`Subscription ${id} has no url.`)
    const signed = sign(order)
    return () => ({ url, ...signed() })
  }
}
