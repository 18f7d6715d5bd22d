import type { Sweep } from '../../lib/sweeper.ts'
import { type Farewell, forgetFarewells, listFarewells } from '../../registry/subscriptions/removed-store.ts'
import type { SecretBox } from '../../security/secret.ts'
import type { Database } from '../../storage/database.ts'
import { type McpEventCodes, mcpEventErrors } from '../../words/mcp-events.ts'
import { PreparedKey } from '../../words/signature.ts'
import type { WebhookTools } from '../attempts.ts'
import { terminatedRequest } from './requests.ts'

const everyMs = 2_000
const atOnce = 50
const timeoutMax = 5_000

/**
 * Tells clients of MCP that the gateway has ended their subscriptions: `terminated`, once, and once more where the gateway stops before
 * it has noted that. The answer is ignored: a client that does not hear of it sees its time run out. Source: SEP-3415, control envelopes.
 */
export function farewellSweep(
  { db, outbound, clock, log, timeoutMs }: WebhookTools & { readonly db: Database },
  secrets: SecretBox,
  codes: McpEventCodes,
): Sweep {
  return {
    name: 'farewells',
    everyMs,
    async run(signal) {
      const due = await listFarewells(db, atOnce)
      if (due.length === 0) return false
      await Promise.all(due.map((farewell) => say(farewell, signal).catch((err) => note(farewell, err))))
      if (signal.aborted) return false
      await forgetFarewells(
        db,
        due.map(({ id }) => id),
      )
      return due.length === atOnce
    },
  }

  async function say({ id, signingKey, reason, ...to }: Farewell, signal: AbortSignal): Promise<void> {
    const keys = [new PreparedKey(secrets.open(signingKey, id))] as const
    const error = { code: mcpEventErrors.Forbidden[codes], message: 'Forbidden', data: { reason } }
    const timestampSeconds = Math.floor(clock.now() / 1000)
    const { url, headers, body } = terminatedRequest({ ...to, keys, timestampSeconds }, error)
    await outbound.post({ url, headers, body, payer: to, timeoutMs: Math.min(timeoutMs, timeoutMax), signal })
  }

  function note({ id: subscriptionId }: Farewell, err: unknown): void {
    log.debug({ err, subscriptionId }, 'wake.not_terminated')
  }
}
