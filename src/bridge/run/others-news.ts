import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Wake } from '../../client/wakes/wake.ts'

const limit = 100
const timeoutMs = 10_000

/**
 * Whether somebody else than its sender, and than the agent itself, has written since a held wake was made. The gateway keeps that mail
 * back behind the wake. False where the gateway does not say.
 */
export async function haveOthersWritten(
  gateway: GatewayClient,
  identity: string,
  { emittedAt }: Wake,
  sender: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (typeof emittedAt !== 'string') return false
  try {
    const query = { unread: 'true', since: emittedAt, order: 'newest', limit } as const
    const { messages } = await gateway.call('GET /v1/inbox', { query, mail: 'none', signal, timeoutMs })
    return messages.some(({ from }) => from !== sender && from !== identity)
  } catch {
    return false
  }
}
