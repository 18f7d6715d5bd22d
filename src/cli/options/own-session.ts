import { UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'

/** The id of the live session of the key's agent: an agent has one at most. Errors: there is none; the key sees several. */
export async function ownSession(gateway: GatewayClient): Promise<string> {
  const { sessions } = await gateway.call('GET /v1/sessions', { query: { status: 'live' } })
  const [only, ...others] = sessions
  if (only === undefined) throw new UsageError('There is no live session. Start one: rouse session start')
  if (others.length > 0) throw new UsageError('The key sees several sessions: name one. rouse session list lists them.')
  return only.sessionId
}
