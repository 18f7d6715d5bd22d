import { randomBytes } from 'node:crypto'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { type PreparedKey, standardHeaders } from '../../words/signature.ts'
import type { WebhookRequest } from '../attempts.ts'
import { type OpenedKeys, signingKeys } from '../wake-signer.ts'

/** The address of a request to a client of MCP, and the keys that sign it. */
interface McpAddress {
  readonly url: string
  /** The id of the subscription that the client knows. */
  readonly mcpId: string
  /** The client's key, and a former one while it may still use that, the newest first. */
  readonly keys: readonly [PreparedKey, ...PreparedKey[]]
  /** Seconds since the epoch, of this attempt. */
  readonly timestampSeconds: number
}

/** Returns a request in the form of Standard Webhooks, with the header that names the subscription. Source: SEP-3415, webhook delivery. */
export function mcpRequest(
  { url, mcpId, keys, timestampSeconds }: McpAddress,
  id: string,
  body: string,
): WebhookRequest {
  const sent = { body, eventId: id, timestampSeconds }
  const headers = {
    ...standardHeaders(sent),
    'Content-Type': 'application/json',
    'X-MCP-Subscription-Id': mcpId,
    'webhook-signature': keys.map((key) => key.standardSignature(sent)).join(' '),
  }
  return { url, headers, body }
}

/** Returns a challenge with a nonce that its receiver sends back. */
export function challengeRequest(address: McpAddress): { readonly request: WebhookRequest; readonly nonce: string } {
  const nonce = randomBytes(24).toString('base64url')
  const body = JSON.stringify({ type: 'verification', challenge: nonce })
  return { request: mcpRequest(address, controlId('verification'), body), nonce }
}

/** Returns the last message of a subscription, which the gateway has ended. */
export function terminatedRequest(address: McpAddress, error: object): WebhookRequest {
  return mcpRequest(address, controlId('terminated'), JSON.stringify({ type: 'terminated', error }))
}

/** Returns the message that events before a cursor were given up, or are kept no more. */
export function gapRequest(address: McpAddress, cursor: string): WebhookRequest {
  return mcpRequest(address, controlId('gap'), JSON.stringify({ type: 'gap', cursor }))
}

function controlId(type: string): string {
  return `msg_${type}_${randomBytes(12).toString('hex')}`
}

/** Returns the address of a subscription whose target is `mcp-webhook`, at an instant (ms since the epoch). */
export function mcpAddress(subscription: WakeSubscription, opened: OpenedKeys, now: number): McpAddress {
  const { id, target, mcpId } = subscription
  if (target.url === undefined || mcpId === null) throw new Error(`Subscription ${id} has no client of MCP.`)
  const keys = signingKeys(subscription, opened, now)
  return { url: target.url, mcpId, keys, timestampSeconds: Math.floor(now / 1000) }
}
