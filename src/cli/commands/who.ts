import type { Command } from 'commander'
import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { SubscriptionView } from '../../client/route-types.ts'
import { clientCommand, connect } from '../client-command.ts'
import { readPages } from '../read-pages.ts'
import { whoTable } from '../views/who-view.ts'

/** Pages of claims that are shown beside the agents. */
const claimPagesMax = 10
const subscriptionPagesMax = 5

export function registerWho(parent: Command, io: Io): void {
  clientCommand(parent, 'who', 'list the agents with their presence, how they are woken, and their claims', [
    'rouse who',
    'rouse who --json',
  ]).action(async (_options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const agents = await readPages(
      (pageToken) => gateway.call('GET /v1/agents', { query: { pageToken } }),
      (page) => page.agents,
    )
    const claims = await readPages(
      (pageToken) => gateway.call('GET /v1/claims', { query: { limit: 200, pageToken } }),
      (page) => page.claims,
      claimPagesMax,
    )
    const subscriptions = print.json ? [] : await readableSubscriptions(gateway)
    print.result({ agents, claims }, () => whoTable(io, agents, claims, subscriptions))
  })
}

/** Returns the subscriptions that the key may read: an agent's own, an operator's all. Empty where it may read none. */
async function readableSubscriptions(gateway: GatewayClient): Promise<SubscriptionView[]> {
  try {
    return await readPages(
      (pageToken) => gateway.call('GET /v1/wake-subscriptions', { query: { pageToken } }),
      (page) => page.subscriptions,
      subscriptionPagesMax,
    )
  } catch (error) {
    if (error instanceof Refused) return []
    throw error
  }
}
