import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import type { GatewayClient } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import type { ClaimView } from '../views/claim-view.ts'
import { type PresentAgent, whoTable } from '../views/who-view.ts'

/** So many pages of claims are shown beside the agents. */
const pagesMax = 10

export function registerWho(parent: Command, io: Io): void {
  clientCommand(parent, 'who', 'show who is there, what they are doing, and what they work on', [
    'rouse who',
    'rouse who --json',
  ]).action(async (_options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const answer = await gateway.call<{ agents?: PresentAgent[] }>('GET', '/v1/agents')
    const agents = answer.agents ?? []
    const claims = await readClaims(gateway)
    print.result({ ...answer, agents, claims }, () => whoTable(io, agents, claims))
  })
}

async function readClaims(gateway: GatewayClient): Promise<ClaimView[]> {
  const claims: ClaimView[] = []
  let pageToken: string | undefined
  for (let pages = 0; pages < pagesMax; pages++) {
    const query = { limit: 200, pageToken }
    const page = await gateway.call<{ claims?: ClaimView[]; nextPageToken?: string }>('GET', '/v1/claims', { query })
    claims.push(...(page.claims ?? []))
    if (!page.nextPageToken) break
    pageToken = page.nextPageToken
  }
  return claims
}
