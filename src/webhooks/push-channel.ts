import { createHash } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { newUuid } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import { type Release, Semaphores } from '../lib/semaphores.ts'
import type { LogEvent } from '../log/event.ts'
import type { PushSubscription, PushTarget } from '../registry/subscriptions/subscription.ts'
import { outboundLimits } from '../security/outbound-limits.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Channel, DeliveryOrder } from '../wakes/channel.ts'
import { PreparedKey, standardHeaders } from '../words/signature.ts'
import { type BuildRequest, deliverWithRetries, type WebhookRequest, type WebhookTools } from './attempts.ts'
import { attemptTest } from './test-attempt.ts'

/** Bodies with fewer characters than this are not counted: what is in flight bounds them. */
const largeBody = 256 * 1024
/** The large bodies that an agent has in memory: a receiver that does not read keeps one until its attempt ends. */
const bodiesOfAgent = { max: outboundLimits.pushBodies.max, queued: 0 }
const renderedOfAgent = { max: outboundLimits.pushesRendered.max, queued: Number.POSITIVE_INFINITY }

/** A push notification as it is sent. */
interface RenderedPush {
  readonly body: string
  readonly contentType: string
}

/** Renders an A2A push notification in the protocol version that its config was registered with. */
type RenderPush = (event: LogEvent, version: PushTarget['protocolVersion']) => Promise<RenderedPush>

/** Signs a JWT as the gateway, with a key that its JWKS publishes. */
export type SignToken = (token: {
  audience: string
  id: string
  issuedAt: number
  seconds: number
  claims: JsonObject
}) => Promise<string>

/** How long a push's JWT is valid: it is made for one attempt, and clocks differ. */
const tokenSeconds = 5 * 60

/** A2A push notifications: the events of one task in the form of the specification (§4.3.3). */
export function createPushChannel(
  tools: WebhookTools,
  secrets: SecretBox,
  render: RenderPush,
  signToken: SignToken,
): Channel<PushSubscription> {
  const bodies = new Semaphores()
  const rendering = new Semaphores()
  return {
    deliver: async (order) => deliverWithRetries(tools, order, requestFor(order)),
    attempt: async (order) => attemptTest(tools, order, requestFor(order)),
  }

  async function takeRoom(agentId: string, size: number): Promise<Release | undefined> {
    return size < largeBody ? () => {} : bodies.enter(agentId, bodiesOfAgent, size)
  }

  function requestFor(order: Pick<DeliveryOrder<PushSubscription>, 'subscription' | 'emission'>): BuildRequest {
    const { subscription, emission } = order
    const { eventId, event, traceparent } = emission
    if (!event) throw new Error('A push notification is about one event.')
    const { agentId, target } = subscription
    const open = (sealed: string | undefined) => sealed && secrets.open(sealed, subscription.id)
    const token = open(target.sealedToken)
    const credentials = open(target.sealedCredentials)
    let kept: RenderedPush | undefined
    let size = 0
    return async () => {
      if (kept) return signed(kept)
      // Its size is known since the first attempt.
      let done = await takeRoom(agentId, size)
      if (!done) return 'no-room'
      const leave = await rendering.enter(agentId, renderedOfAgent)
      try {
        const rendered = await render(event, target.protocolVersion)
        if (rendered.body.length !== size) {
          done()
          size = rendered.body.length
          done = await takeRoom(agentId, size)
          if (!done) return 'no-room'
        }
        // Kept until the next attempt, a large body would take memory for hours.
        if (size < largeBody) kept = rendered
        return { ...(await signed(rendered)), done }
      } catch (error) {
        done?.()
        throw error
      } finally {
        leave?.()
      }
    }

    async function signed({ body, contentType }: RenderedPush): Promise<WebhookRequest> {
      const timestampSeconds = nowSeconds(tools.clock)
      const authorization = await authorize(subscription, credentials, timestampSeconds)
      const headers = {
        'Content-Type': contentType,
        ...(authorization ? { Authorization: authorization } : {}),
        ...(token ? { 'X-A2A-Notification-Token': token } : {}),
        ...(traceparent === undefined ? {} : { traceparent }),
        // The token is the one secret that both sides have, so it is the key too.
        ...standardHeaders({ body, eventId, timestampSeconds }, token ? new PreparedKey(token) : undefined),
      }
      return { url: target.url, headers, body }
    }
  }

  /**
   * Returns the Authorization header that the config asks for. `Bearer` without credentials is a JWT of the gateway; no other
   * scheme says what to send without any.
   */
  async function authorize(
    subscription: PushSubscription,
    credentials: string | undefined,
    issuedAt: number,
  ): Promise<string | undefined> {
    const { scheme, url } = subscription.target
    if (!scheme) return undefined
    if (credentials) return `${scheme} ${credentials}`
    if (scheme.toLowerCase() !== 'bearer') return undefined
    const audience = new URL(url).origin
    const claims = claimsOf(subscription)
    // Random: an attempt that is made again after a crash must not look like a replay.
    return `Bearer ${await signToken({ audience, id: newUuid(), issuedAt, seconds: tokenSeconds, claims })}`
  }
}

/**
 * Returns what a push's JWT states: who requested which config on which task, and the one URL that it is sent to. Any caller may
 * have a token sent to a URL, so the gateway's name alone proves nothing.
 */
function claimsOf({ projectId, audience: taskId, target }: PushSubscription): JsonObject {
  const { url, configId, registeredBy } = target
  const urlHash = createHash('sha256').update(url).digest('base64url')
  return { ...(registeredBy === undefined ? {} : { sub: registeredBy }), project: projectId, configId, taskId, urlHash }
}

function nowSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
