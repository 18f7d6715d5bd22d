import type { Subscription, WakeTarget } from '../registry/subscriptions/subscription.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Channel, DeliveryOrder } from '../wakes/channel.ts'
import { wakeBody } from '../wakes/content/emission.ts'
import { deliverWithRetries, type WebhookRequest, type WebhookTools } from './attempts.ts'
import { signHeaders } from './signature.ts'
import { createTestAttempt } from './test-attempt.ts'

/** `a2a-webhook`: the wake as a signed POST. Source: S1-33, S1-34. */
export function createWebhookChannel(tools: WebhookTools, secrets: SecretBox): Channel {
  const attempt = createTestAttempt(tools)
  return {
    deliver: (order) => deliverWithRetries(tools, order, requestFor(order)),
    attempt: (order) => attempt(order, requestFor(order)),
  }

  function requestFor(order: Pick<DeliveryOrder, 'subscription' | 'agentIdentity' | 'emission'>): () => WebhookRequest {
    const { subscription, agentIdentity, emission } = order
    const { url } = subscription.target as WakeTarget
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
        keys: signingKeys(subscription, secrets, now),
      })
      return { url, headers, body }
    }
  }
}

/** Keys that were opened before, by what is kept of them: a key is used for thousands of wakes. */
const openedMax = 10_000
const opened = new Map<string, string>()

function openKey(secrets: SecretBox, sealed: string, id: string): string {
  const known = opened.get(sealed)
  if (known !== undefined) return known
  const key = secrets.open(sealed, id)
  if (opened.size >= openedMax) opened.clear()
  opened.set(sealed, key)
  return key
}

/** The key, and during a rotation's overlap the one before it. */
function signingKeys(subscription: Subscription, secrets: SecretBox, now: number): [string, string?] {
  const { id, signingKey, previousKey, previousKeyUntil } = subscription
  if (!signingKey) throw new Error(`Subscription ${id} has no signing key.`)
  const current = openKey(secrets, signingKey, id)
  const overlapping = previousKey !== null && previousKeyUntil !== null && previousKeyUntil > now
  return overlapping ? [current, openKey(secrets, previousKey, id)] : [current]
}
