import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Channel, TestOrder } from '../wakes/channel.ts'
import { wakeBody } from '../wakes/content/emission.ts'
import { deliverWithRetries, type WebhookRequest, type WebhookTools } from './attempts.ts'
import { OpenedKeys } from './opened-keys.ts'
import { signHeaders } from './signature.ts'
import { createTestAttempt } from './test-attempt.ts'

/** `a2a-webhook`: the wake as a signed POST. Source: S1-33, S1-34. */
export function createWebhookChannel(tools: WebhookTools, secrets: SecretBox): Channel<WakeSubscription> {
  const attempt = createTestAttempt(tools)
  const opened = new OpenedKeys(secrets)
  return {
    deliver: (order) => deliverWithRetries(tools, order, requestFor(order)),
    attempt: (order) => attempt(order, requestFor(order)),
  }

  function requestFor(order: Omit<TestOrder<WakeSubscription>, 'signal'>): () => WebhookRequest {
    const { subscription, agentIdentity, emission } = order
    const { url } = subscription.target
    if (!url) throw new Error(`Subscription ${subscription.id} has no url.`)
    let body: string | undefined
    return () => {
      body ??= JSON.stringify(wakeBody(emission, agentIdentity, subscription.id))
      const now = tools.clock.now()
      const headers = signHeaders({
        body,
        eventId: emission.eventId,
        subscriptionId: subscription.id,
        timestampSeconds: Math.floor(now / 1000),
        keys: signingKeys(subscription, opened, now),
      })
      return { url, headers, body }
    }
  }
}

/** Returns the key, and during a rotation's overlap the previous one. */
function signingKeys(subscription: WakeSubscription, opened: OpenedKeys, now: number): [string, string?] {
  const { id, signingKey, previousKey, previousKeyUntil } = subscription
  if (!signingKey) throw new Error(`Subscription ${id} has no signing key.`)
  const current = opened.open(signingKey, id)
  const overlaps = previousKey !== null && previousKeyUntil !== null && previousKeyUntil > now
  return overlaps ? [current, opened.open(previousKey, id)] : [current]
}
