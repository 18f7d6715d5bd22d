import type { LogEvent } from '../log/event.ts'
import type { PushTarget } from '../registry/subscription.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Channel, DeliveryOrder } from '../wakes/channel.ts'
import { deliverWithRetries, tryOnce, type WebhookTools } from './attempts.ts'

/** An A2A push notification's body in the protocol version that its config was registered with. */
export type RenderPush = (
  event: LogEvent,
  version: PushTarget['protocolVersion'],
) => Promise<{ body: string; contentType: string }>

/** A2A push notifications: a subscription on one task, told in the specification's own words (§4.3.3). */
export function createPushChannel(tools: WebhookTools, secrets: SecretBox, render: RenderPush): Channel {
  return {
    deliver: async (order) => deliverWithRetries(tools, order, await requestFor(order)),
    attempt: async (order) => (await tryOnce(tools, (await requestFor(order))(), order.signal)).attempt,
  }

  async function requestFor(order: Pick<DeliveryOrder, 'subscription' | 'emission'>) {
    const { subscription, emission } = order
    const target = subscription.target as PushTarget
    if (!emission.event) throw new Error('A push notification tells one event.')
    const { body, contentType } = await render(emission.event, target.protocolVersion)
    const headers = {
      'Content-Type': contentType,
      'webhook-id': emission.eventId,
      ...credentials(subscription.id, target),
    }
    return () => ({ url: target.url, headers, body })
  }

  function credentials(subscriptionId: string, target: PushTarget): Record<string, string> {
    const headers: Record<string, string> = {}
    if (target.sealedToken) headers['X-A2A-Notification-Token'] = secrets.open(target.sealedToken, subscriptionId)
    if (target.scheme && target.sealedCredentials) {
      headers.Authorization = `${target.scheme} ${secrets.open(target.sealedCredentials, subscriptionId)}`
    }
    return headers
  }
}
