import { createHash } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { newUuid } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { LogEvent } from '../log/event.ts'
import type { PushTarget, Subscription } from '../registry/subscriptions/subscription.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Channel, DeliveryOrder } from '../wakes/channel.ts'
import { type BuildRequest, deliverWithRetries, type WebhookTools } from './attempts.ts'
import { standardHeaders } from './signature.ts'
import { createTestAttempt } from './test-attempt.ts'

/** An A2A push notification's body in the protocol version that its config was registered with. */
export type RenderPush = (
  event: LogEvent,
  version: PushTarget['protocolVersion'],
) => Promise<{ body: string; contentType: string }>

/** Signs a JWT in the gateway's name with a key that its JWKS publishes. */
export type SignToken = (token: {
  audience: string
  id: string
  issuedAt: number
  seconds: number
  claims: JsonObject
}) => Promise<string>

/** How long a push's JWT is good for: it is made for one try, and clocks differ. */
const tokenSeconds = 5 * 60

/** A2A push notifications: a subscription on one task, told in the specification's own words (§4.3.3). */
export function createPushChannel(
  tools: WebhookTools,
  secrets: SecretBox,
  render: RenderPush,
  signToken: SignToken,
): Channel {
  const attempt = createTestAttempt(tools)
  return {
    deliver: async (order) => deliverWithRetries(tools, order, requestFor(order)),
    attempt: async (order) => attempt(order, requestFor(order)),
  }

  function requestFor(order: Pick<DeliveryOrder, 'subscription' | 'emission'>): BuildRequest {
    const { subscription, emission } = order
    const { eventId, event } = emission
    if (!event) throw new Error('A push notification tells one event.')
    const target = subscription.target as PushTarget
    const { url } = target
    let rendered: Awaited<ReturnType<RenderPush>> | undefined
    const open = (sealed: string | undefined) => sealed && secrets.open(sealed, subscription.id)
    const token = open(target.sealedToken)
    const credentials = open(target.sealedCredentials)
    return async () => {
      rendered ??= await render(event, target.protocolVersion)
      const { body, contentType } = rendered
      const timestampSeconds = nowSeconds(tools.clock)
      const authorization = await authorize(subscription, credentials, timestampSeconds)
      const headers = {
        'Content-Type': contentType,
        ...(authorization ? { Authorization: authorization } : {}),
        ...(token ? { 'X-A2A-Notification-Token': token } : {}),
        // The token is the one secret that both sides have, so it is the key too.
        ...standardHeaders({ body, eventId, timestampSeconds, keys: token ? [token] : [] }),
      }
      return { url, headers, body }
    }
  }

  /** What the config asks for. `Bearer` without credentials is a JWT of the gateway; no other scheme says what to send without any. */
  async function authorize(
    subscription: Subscription,
    credentials: string | undefined,
    issuedAt: number,
  ): Promise<string | undefined> {
    const target = subscription.target as PushTarget
    const { scheme, url } = target
    if (!scheme) return undefined
    if (credentials) return `${scheme} ${credentials}`
    if (scheme.toLowerCase() !== 'bearer') return undefined
    const audience = new URL(url).origin
    const claims = claimsOf(subscription, target)
    // Random: a try that is made again after a crash must not look like a replay.
    return `Bearer ${await signToken({ audience, id: newUuid(), issuedAt, seconds: tokenSeconds, claims })}`
  }
}

/**
 * What a push's JWT vouches for: who asked for which config on which task, and the one URL that it is sent to. Anybody may have
 * a token sent to a URL, so the gateway's name alone proves nothing.
 */
function claimsOf({ projectId, audience: taskId }: Subscription, target: PushTarget): JsonObject {
  const { url, configId, registeredBy } = target
  const urlHash = createHash('sha256').update(url).digest('base64url')
  return { ...(registeredBy === undefined ? {} : { sub: registeredBy }), project: projectId, configId, taskId, urlHash }
}

function nowSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
