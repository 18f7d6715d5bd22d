import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import type { Io } from '../io.ts'
import { readList } from '../read-list.ts'
import { type AgentView, agentTable } from '../views/agent-view.ts'

export function registerAgentList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'list the agents', ['rouse agent list', 'rouse agent list --json']).action(
    async (_options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await readList<AgentView>(gateway, '/v1/agents', 'agents')
      print.result(answer, () => agentTable(io, answer.agents ?? []))
    },
  )
}
