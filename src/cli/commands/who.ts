import type { Command } from 'commander'
import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { SubscriptionView, TaskSummaryView } from '../../client/route-types.ts'
import { whoTable } from '../output/who-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { readPages } from '../run/read-pages.ts'

/** Pages of claims that are shown beside the agents. */
const claimPagesMax = 10
const subscriptionPagesMax = 5
const taskPagesMax = 2

export function registerWho(parent: Command, io: Io): void {
  clientCommand(parent, 'who', 'list the agents with their presence, how they are woken, and what they work on', [
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
    const tasks = print.json ? [] : await readableTasks(gateway)
    print.result({ agents, claims }, () => whoTable(io, { agents, claims, tasks, subscriptions }))
  })
}

/** Returns the subscriptions that the key may read: an agent's own, an operator's all. */
const readableSubscriptions = (gateway: GatewayClient): Promise<SubscriptionView[]> =>
  readable(
    readPages(
      (pageToken) => gateway.call('GET /v1/wake-subscriptions', { query: { pageToken } }),
      (page) => page.subscriptions,
      subscriptionPagesMax,
    ),
  )

/** Returns the tasks that somebody works on now, as far as the key may read them. */
const readableTasks = (gateway: GatewayClient): Promise<TaskSummaryView[]> =>
  readable(
    readPages(
      (pageToken) =>
        gateway.call('GET /v1/tasks', { query: { state: 'working', pageSize: 100, historyLength: 1, pageToken } }),
      (page) => page.tasks,
      taskPagesMax,
    ),
  )

/** Empty where the key may not read the list. */
async function readable<Item>(list: Promise<Item[]>): Promise<Item[]> {
  try {
    return await list
  } catch (error) {
    if (error instanceof Refused) return []
    throw error
  }
}
