import type { Clock } from '../lib/clock.ts'
import { newUuid } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { LogEvent } from '../log/event.ts'
import type { PushTarget } from '../registry/subscription.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Channel, DeliveryOrder } from '../wakes/channel.ts'
import { type BuildRequest, deliverWithRetries, tryOnce, type WebhookTools } from './attempts.ts'
import { standardHeaders } from './signature.ts'

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
  return {
    deliver: async (order) => deliverWithRetries(tools, order, await requestFor(order)),
    attempt: async (order) => (await tryOnce(tools, await (await requestFor(order))(), order.signal)).attempt,
  }

  async function requestFor(order: Pick<DeliveryOrder, 'subscription' | 'emission'>): Promise<BuildRequest> {
    const { subscription, emission } = order
    const { eventId, event } = emission
    if (!event) throw new Error('A push notification tells one event.')
    const target = subscription.target as PushTarget
    const { url } = target
    const { body, contentType } = await render(event, target.protocolVersion)
    const open = (sealed: string | undefined) => sealed && secrets.open(sealed, subscription.id)
    const token = open(target.sealedToken)
    const credentials = open(target.sealedCredentials)
    return async () => {
      const timestampSeconds = nowSeconds(tools.clock)
      const authorization = await authorize(target, credentials, subscription.audience, timestampSeconds)
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
    { scheme, url }: PushTarget,
    credentials: string | undefined,
    taskId: string,
    issuedAt: number,
  ): Promise<string | undefined> {
    if (!scheme) return undefined
    if (credentials) return `${scheme} ${credentials}`
    if (scheme.toLowerCase() !== 'bearer') return undefined
    const audience = new URL(url).origin
    // Random: a try that is made again after a crash must not look like a replay.
    return `Bearer ${await signToken({ audience, id: newUuid(), issuedAt, seconds: tokenSeconds, claims: { taskId } })}`
  }
}

function nowSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
