import type { Sweep } from '../../lib/sweeper.ts'
import { takeGaps } from '../../registry/subscriptions/mcp-store.ts'
import { type Farewell, forgetFarewells, listFarewells } from '../../registry/subscriptions/removed-store.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { SecretBox } from '../../security/secret.ts'
import type { Database } from '../../storage/database.ts'
import { type McpEventCodes, mcpEventCursor, mcpEventErrors } from '../../words/mcp-events.ts'
import type { WebhookRequest, WebhookTools } from '../attempts.ts'
import { OpenedKeys } from '../wake-signer.ts'
import { gapRequest, mcpAddress, terminatedRequest } from './requests.ts'

const everyMs = 2_000
const atOnce = 50
const timeoutMax = 5_000

/**
 * Notifies clients of MCP that the gateway has ended their subscriptions: `terminated`, once, and once more where the gateway stops before
 * it has noted that; and that events were given up or are kept no more: `gap`, once. The answer is ignored: a client that is not notified of it
 * sees its time run out, or reads `truncated` at its next refresh. Source: SEP-3415, control envelopes.
 */
export function controlMessageSweep(
  { db, outbound, clock, log, timeoutMs }: WebhookTools & { readonly db: Database },
  secrets: SecretBox,
  codes: McpEventCodes,
): Sweep {
  const opened = new OpenedKeys(secrets)
  return {
    name: 'control_messages',
    everyMs,
    async run(signal) {
      const farewells = await listFarewells(db, atOnce)
      const gaps = await takeGaps(db, clock.now(), atOnce)
      await Promise.all([
        ...farewells.map((one) => send(one, farewellTo, signal)),
        ...gaps.map((one) => send(one, gapTo, signal)),
      ])
      if (signal.aborted || farewells.length + gaps.length === 0) return false
      const said = farewells.map(({ id }) => id)
      await forgetFarewells(db, said)
      return farewells.length === atOnce || gaps.length === atOnce
    },
  }

  function farewellTo({ id, signingKey, reason, ...to }: Farewell): WebhookRequest {
    const keys = [opened.open(signingKey, id)] as const
    const error = { code: mcpEventErrors.Forbidden[codes], message: 'Forbidden', data: { reason } }
    return terminatedRequest({ ...to, keys, timestampSeconds: Math.floor(clock.now() / 1000) }, error)
  }

  function gapTo(subscription: WakeSubscription): WebhookRequest {
    const cursor = mcpEventCursor(subscription.projectId, subscription.cursorLogId)
    return gapRequest(mcpAddress(subscription, opened, clock.now()), cursor)
  }

  async function send<To extends Farewell | WakeSubscription>(
    to: To,
    build: (to: To) => WebhookRequest,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await outbound.post({ ...build(to), payer: to, timeoutMs: Math.min(timeoutMs, timeoutMax), signal })
    } catch (err) {
      log.debug({ err, subscriptionId: to.id }, 'wake.control_message_not_sent')
    }
  }
}
