import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Wake } from '../../client/wakes/wake.ts'

const limit = 100
const timeoutMs = 10_000

/**
 * Returns the agents, other than its senders and the agent itself, that have written since a held wake was made. The gateway sends their
 * mail after the wake. Empty if the gateway does not answer.
 */
export async function otherWriters(
  gateway: GatewayClient,
  identity: string,
  { emittedAt }: Wake,
  senders: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  if (typeof emittedAt !== 'string') return []
  try {
    const query = { unread: 'true', since: emittedAt, order: 'newest', limit } as const
    const { messages } = await gateway.call('GET /v1/inbox', { query, mail: 'none', signal, timeoutMs })
    return [...new Set(messages.map(({ from }) => from))].filter((one) => one !== identity && !senders.includes(one))
  } catch {
    return []
  }
}
