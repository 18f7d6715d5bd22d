import { randomBytes } from 'node:crypto'
import { isHidden } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import type { Receipt } from '../../words/mail.ts'
import { readPages } from '../run/read-pages.ts'
import { isOpen, type MessageEvidence, messageEvidence, type RouteEvidence, routeEvidence } from './evidence.ts'

export interface WakeTest {
  readonly agent: string
  readonly messageId: string
  readonly nonce: string
  readonly session: { readonly surface: string; readonly presence: string } | null
  readonly message: MessageEvidence
  /** null: this key may not see the subscriptions of the agent. */
  readonly routes: readonly RouteEvidence[] | null
}

interface TestOptions {
  readonly handle: string
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  /** Called with each stronger proof. */
  readonly noteProof: (message: MessageEvidence) => void
}

const lookMs = 300

/**
 * Sends an agent a message that asks for an acknowledgement, and collects the evidence until the agent has acknowledged it or the time is over.
 * Errors: `Refused`, `Unreachable`.
 */
export async function runWakeTest(
  gateway: GatewayClient,
  { handle, waitMs, signal, noteProof }: TestOptions,
): Promise<WakeTest> {
  const agent = `@${handle}`
  const nonce = randomBytes(4).toString('hex')
  const { session, presence } = await gateway.call('GET /v1/agents/:handle', { params: { handle } })
  const body = {
    to: agent,
    subject: `Wake test ${nonce}`,
    body: `This is a test of how you are woken. Acknowledge this message (mark_message, acked), and do nothing else. ${nonce}`,
    wakePolicy: 'immediate' as const,
  }
  const { messageId } = await gateway.call('POST /v1/messages', { body })
  const read = () => gateway.call('GET /v1/messages/:id', { params: { id: messageId } })
  const endsAt = performance.now() + waitMs
  let receipt: Receipt | undefined
  for (;;) {
    const { recipients, createdAt } = await read()
    const message = messageEvidence(recipients[0]!, createdAt)
    if (message.receipt !== receipt) noteProof(message)
    receipt = message.receipt
    if (!isOpen(message) || performance.now() >= endsAt || signal?.aborted) {
      const routes = await routesOf(gateway, { agent, messageId, sentAt: createdAt })
      const seen = session && { surface: session.surface, presence: presence.state }
      return { agent, messageId, nonce, session: seen, message, routes }
    }
    await sleep(systemClock, lookMs, signal)
  }
}

interface TestMessage {
  readonly agent: string
  readonly messageId: string
  readonly sentAt: string
}

async function routesOf(
  gateway: GatewayClient,
  { agent, messageId, sentAt }: TestMessage,
): Promise<RouteEvidence[] | null> {
  try {
    const page = (pageToken: string | undefined) =>
      gateway.call('GET /v1/wake-subscriptions', { query: { agent, pageToken } })
    const all = await readPages(page, ({ subscriptions }) => subscriptions)
    const own = all.filter(({ trigger }) => trigger === 'SENT_TO_ME')
    return await Promise.all(
      own.map(async (subscription) => {
        const params = { id: subscription.subscriptionId }
        const query = { limit: 20 }
        const { deliveries } = await gateway.call('GET /v1/wake-subscriptions/:id/deliveries', { params, query })
        const { held } = await gateway.call('GET /v1/wake-subscriptions/:id/held', { params, query })
        const since = deliveries.filter(({ createdAt }) => createdAt >= sentAt)
        return routeEvidence(
          { subscription, deliveries: since, held: held.find((one) => one.messageId === messageId) },
          sentAt,
        )
      }),
    )
  } catch (error) {
    if (isHidden(error)) return null
    throw error
  }
}
