import type { Command } from 'commander'
import { UsageError } from '../../client/failure.ts'
import { bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { type AgentOptions, addAgentOptions, agentFields } from '../options/agent-options.ts'
import { agentText } from '../output/agent-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

export function registerAgentUpdate(parent: Command, io: Io): void {
  const command = clientCommand(parent, 'update <handle>', 'change an agent; only the given fields change', [
    'rouse agent update @donna --description "Reviews pull requests"',
    'rouse agent update @donna --skill review:"Code review":typescript --skill docs',
  ])
  const help = {
    skill: 'a skill as id:name:tag,tag; repeatable, replaces all skills',
    alias: 'another handle; repeatable, replaces all aliases',
  }
  addAgentOptions(command, help).action(async (handle: string, options: AgentOptions, command: Command) => {
    const body = agentFields(options)
    if (Object.values(body).every((value) => value === undefined)) {
      throw new UsageError(
        'Nothing to change: give --name, --description, --skill, --alias, --access, --contact or --default-wake-policy.',
      )
    }
    const { gateway, print } = connect(io, command)
    const agent = await gateway.call('PATCH /v1/agents/:handle', { params: { handle: bareHandle(handle) }, body })
    print.result(agent, () => agentText(io, agent))
  })
}
