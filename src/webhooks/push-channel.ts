import { createHash } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { newUuid } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import { Semaphores } from '../lib/semaphores.ts'
import type { LogEvent } from '../log/event.ts'
import type { PushSubscription, PushTarget } from '../registry/subscriptions/subscription.ts'
import { outboundLimits } from '../security/outbound-limits.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Channel, DeliveryOrder } from '../wakes/channel.ts'
import { PreparedKey, standardHeaders } from '../words/signature.ts'
import { type BuildRequest, deliverWithRetries, type WebhookRequest, type WebhookTools } from './attempts.ts'
import { createTestAttempt } from './test-attempt.ts'

/** Bodies with fewer characters than this are not counted: what is in flight bounds them. */
export const largeBody = 256 * 1024

/**
 * Bounds the text of large bodies that each agent has in memory: a receiver that does not read keeps one until its attempt ends.
 * A single body may always be sent, whatever its size. Sizes are in characters.
 */
export class BodiesAtOnce {
  readonly #max: number
  readonly #held = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  hasRoom(agentId: string, size: number): boolean {
    const held = this.#held.get(agentId)
    return size < largeBody || held === undefined || held + size <= this.#max
  }

  /** Counts a body until the result is called; undefined: there is no room for it now. */
  take(agentId: string, size: number): (() => void) | undefined {
    if (!this.hasRoom(agentId, size)) return undefined
    if (size < largeBody) return () => {}
    this.#held.set(agentId, this.heldBy(agentId) + size)
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      const left = this.heldBy(agentId) - size
      if (left > 0) this.#held.set(agentId, left)
      else this.#held.delete(agentId)
    }
  }

  /** The characters of an agent's bodies that are counted now. */
  heldBy(agentId: string): number {
    return this.#held.get(agentId) ?? 0
  }
}

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
  const attempt = createTestAttempt(tools)
  const bodies = new BodiesAtOnce(outboundLimits.pushBodies.max)
  const rendering = new Semaphores()
  return {
    deliver: async (order) => deliverWithRetries(tools, order, requestFor(order)),
    attempt: async (order) => attempt(order, requestFor(order)),
  }

  function requestFor(order: Pick<DeliveryOrder<PushSubscription>, 'subscription' | 'emission'>): BuildRequest {
    const { subscription, emission } = order
    const { eventId, event } = emission
    if (!event) throw new Error('A push notification is about one event.')
    const { agentId, target } = subscription
    const open = (sealed: string | undefined) => sealed && secrets.open(sealed, subscription.id)
    const token = open(target.sealedToken)
    const credentials = open(target.sealedCredentials)
    let kept: RenderedPush | undefined
    let size = 0
    return async () => {
      if (kept) return signed(kept)
      if (!bodies.hasRoom(agentId, size)) return 'no-room'
      const leave = await rendering.enter(agentId, {
        max: outboundLimits.pushesRendered.max,
        queued: Number.POSITIVE_INFINITY,
      })!
      let done: (() => void) | undefined
      try {
        // Its size is known since the first attempt.
        if (!bodies.hasRoom(agentId, size)) return 'no-room'
        const rendered = await render(event, target.protocolVersion)
        size = rendered.body.length
        done = bodies.take(agentId, size)
        if (!done) return 'no-room'
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
