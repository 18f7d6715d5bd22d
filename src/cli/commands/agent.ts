import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { bareHandle } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { readPages } from '../read-pages.ts'
import { agentTable, agentText } from '../views/agent-view.ts'
import { registerAgentAdd } from './agent-add.ts'
import { registerAgentKey } from './agent-key.ts'
import { registerAgentUpdate } from './agent-update.ts'

/** `rouse agent …` */
export function registerAgent(program: Command, io: Io): void {
  const agent = program.command('agent').description('add, show and change agents and their keys')
  registerAgentAdd(agent, io)
  registerList(agent, io)
  registerShow(agent, io)
  registerAgentUpdate(agent, io)
  registerRemove(agent, io)
  registerAgentKey(agent, io)
}

function registerList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'list the agents', ['rouse agent list', 'rouse agent list --json']).action(
    async (_options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const agents = await readPages(
        (pageToken) => gateway.call('GET /v1/agents', { query: { pageToken } }),
        (page) => page.agents,
      )
      print.result({ agents }, () => agentTable(io, agents))
    },
  )
}

function registerShow(parent: Command, io: Io): void {
  clientCommand(parent, 'show <handle>', 'show one agent', ['rouse agent show @donna']).action(
    async (handle: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const agent = await gateway.call('GET /v1/agents/:handle', { params: { handle: bareHandle(handle) } })
      print.result(agent, () => agentText(agent))
    },
  )
}

function registerRemove(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <handle>', 'remove an agent, its keys and its subscriptions; its open tasks are rejected', [
    'rouse agent rm @donna',
    'rouse agent rm @donna --free-names   # a later agent with this name gets its mail',
  ])
    .option('--free-names', 'free the names of the agent too; without this option they stay reserved')
    .action(async (name: string, options: { freeNames?: boolean }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const handle = bareHandle(name)
      const query = { freeNames: options.freeNames ? 'true' : undefined }
      const { tasksRejected } = await gateway.call('DELETE /v1/agents/:handle', { params: { handle }, query })
      const tasks = tasksRejected === 1 ? '1 open task was rejected' : `${tasksRejected} open tasks were rejected`
      const answer = { handle: `@${handle}`, status: 'removed', tasksRejected }
      print.result(answer, () => `@${handle} is removed. ${tasksRejected === 0 ? 'It had no open tasks' : tasks}.\n`)
    })
}
