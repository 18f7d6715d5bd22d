import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import { nearestNames } from '../../lib/nearest-names.ts'

const suggestionsMax = 3

/** Runs a call over A2A, whose refusal of an unknown agent names no other agents, and adds the nearest names to that refusal. */
export async function suggestingAgents<Answer>(
  gateway: GatewayClient,
  handle: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused) || error.problem.code !== 'agent-not-found') throw error
    const candidates = await nearestAgents(gateway, handle)
    const hint = candidates.length > 0 ? `Did you mean ${candidates.join(' or ')}?` : '`rouse who` lists the agents.'
    throw new Refused({ ...error.problem, candidates, hint }, error.keyUse)
  }
}

/** The agents on the first page of the list. Where the key may not read it there are none. */
async function nearestAgents(gateway: GatewayClient, handle: string): Promise<string[]> {
  try {
    const { agents } = await gateway.call('GET /v1/agents')
    const names = agents.flatMap(({ handle, aliases }) => [handle, ...aliases])
    return nearestNames(handle, names, suggestionsMax)
  } catch (error) {
    if (error instanceof Refused) return []
    throw error
  }
}
