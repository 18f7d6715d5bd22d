import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import type { Io } from '../io.ts'
import { readPages } from '../read-pages.ts'
import { whoTable } from '../views/who-view.ts'

/** Pages of claims that are shown beside the agents. */
const claimPagesMax = 10

export function registerWho(parent: Command, io: Io): void {
  clientCommand(parent, 'who', 'list the agents with their presence and their claims', [
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
    print.result({ agents, claims }, () => whoTable(io, agents, claims))
  })
}
