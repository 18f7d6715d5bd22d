import type { GatewayClient } from '../gateway-client.ts'

/** How a command calls the gateway as the agent that is woken. */
export interface CommandAccess {
  readonly url: string
  readonly key?: string
}

/**
 * Returns the address and the key for a command that calls the gateway as the agent. An operator's key stays here. Errors: `Refused`,
 * `Unreachable`.
 */
export async function accessOf(gateway: GatewayClient): Promise<CommandAccess> {
  const [{ kind }, { key }] = await Promise.all([gateway.call('GET /v1/whoami'), gateway.credentials()])
  return { url: gateway.url, ...(kind === 'agent' && key !== undefined ? { key } : {}) }
}
