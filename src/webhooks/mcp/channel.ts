import { isoTime } from '../../lib/iso-time.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { SecretBox } from '../../security/secret.ts'
import type { Channel, DeliveryOrder } from '../../wakes/channel.ts'
import { mcpEventBody, mcpEventId } from '../../wakes/content/mcp-event.ts'
import type { McpEventName } from '../../words/mcp-events.ts'
import { deliverWithRetries, type WebhookRequest, type WebhookTools } from '../attempts.ts'
import { attemptTest } from '../test-attempt.ts'
import { OpenedKeys } from '../wake-signer.ts'
import { challengeRequest, mcpAddress, mcpRequest } from './requests.ts'

/** `mcp-webhook`: each event alone, as a client of MCP takes it. A test is a challenge: such a client knows no other. Source: D42. */
export function createMcpChannel(tools: WebhookTools, secrets: SecretBox): Channel<WakeSubscription> {
  const opened = new OpenedKeys(secrets)
  const addressOf = (subscription: WakeSubscription) => mcpAddress(subscription, opened, tools.clock.now())
  return {
    deliver: (order) => deliverWithRetries(tools, order, requestFor(order)),
    attempt: (order) => attemptTest(tools, order, () => challengeRequest(addressOf(order.subscription)).request),
  }

  function requestFor({ subscription, emission }: DeliveryOrder<WakeSubscription>): () => WebhookRequest | 'no-room' {
    const { projectId, expiresAt, cursorLogId } = subscription
    const { eventType, logId, firstAt, payload: data, doneTo = cursorLogId, traceparent } = emission
    const name = eventType as McpEventName
    const eventId = mcpEventId(projectId, logId, name)
    let body: string | undefined
    return () => {
      // Nothing is sent after its time. A sweep ends it, and with it this delivery.
      if (expiresAt !== null && expiresAt <= tools.clock.now()) return 'no-room'
      body ??= mcpEventBody(projectId, { eventId, name, timestamp: isoTime(firstAt), data }, doneTo)
      const request = mcpRequest(addressOf(subscription), eventId, body)
      return traceparent === undefined ? request : { ...request, headers: { ...request.headers, traceparent } }
    }
  }
}
