import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { bareHandle, pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { type AgentView, agentText } from '../views/agent-view.ts'

export function registerAgentShow(parent: Command, io: Io): void {
  clientCommand(parent, 'show <handle>', 'show one agent', ['rouse agent show @donna']).action(
    async (handle: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const agent = await gateway.call<AgentView>('GET', pathOf('/v1/agents', bareHandle(handle)))
      print.result(agent, () => agentText(agent))
    },
  )
}
