import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { whoText } from '../output/who-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { readableFollowers, readableSubscriptions, readableTasks } from '../run/read-lists.ts'
import { readPages } from '../run/read-pages.ts'

/** Pages of claims that are shown beside the agents. */
const claimPagesMax = 10

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
    const tasks = print.json ? [] : await readableTasks(gateway, 'working')
    const followers = print.json ? [] : await readableFollowers(gateway)
    print.result({ agents, claims }, () => whoText(io, { agents, claims, tasks, subscriptions, followers }))
  })
}
