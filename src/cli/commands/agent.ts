import type { Command } from 'commander'
import { bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { agentTable, agentText } from '../output/agent-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { readPages } from '../run/read-pages.ts'
import { registerAgentAdd } from './agent-add.ts'
import { registerAgentKey } from './agent-key.ts'
import { registerAgentRemove } from './agent-remove.ts'
import { registerAgentUpdate } from './agent-update.ts'

/** `rouse agent …` */
export function registerAgent(program: Command, io: Io): void {
  const agent = program.command('agent').description('add, show and change agents and their keys')
  registerAgentAdd(agent, io)
  registerList(agent, io)
  registerShow(agent, io)
  registerAgentUpdate(agent, io)
  registerAgentRemove(agent, io)
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
      print.result(agent, () => agentText(io, agent))
    },
  )
}
