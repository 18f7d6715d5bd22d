import type { Command } from 'commander'
import { UsageError } from '../../client/failure.ts'
import { bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { Access, ContactPolicy, WakePolicy } from '../../words/policies.ts'
import {
  access,
  collect,
  collectSkill,
  contactPolicy,
  type SkillOption,
  wakePolicy,
  wakePolicyHelp,
} from '../options/option-values.ts'
import { agentText } from '../output/agent-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface AgentUpdateOptions {
  name?: string
  description?: string
  skill?: SkillOption[]
  alias?: string[]
  access?: Access
  contact?: ContactPolicy
  defaultWakePolicy?: WakePolicy
}

export function registerAgentUpdate(parent: Command, io: Io): void {
  clientCommand(parent, 'update <handle>', 'change an agent; only the given fields change', [
    'rouse agent update @donna --description "Reviews pull requests"',
    'rouse agent update @donna --skill review:"Code review":typescript --skill docs',
  ])
    .option('--name <name>', 'the name people see')
    .option('--description <text>', 'what the agent does')
    .option('--skill <id:name:tags>', 'a skill as id:name:tag,tag; repeatable, replaces all skills', collectSkill)
    .option('--alias <handle>', 'another handle; repeatable, replaces all aliases', collect)
    .option('--access <level>', 'who may see it and send to it: public, project or private', access)
    .option(
      '--contact <policy>',
      'whose mail it accepts: everybody in the project, or only listed agents',
      contactPolicy,
    )
    .option('--default-wake-policy <policy>', wakePolicyHelp, wakePolicy)
    .action(async (handle: string, options: AgentUpdateOptions, command: Command) => {
      const body = {
        displayName: options.name,
        description: options.description,
        skills: options.skill,
        aliases: options.alias,
        access: options.access,
        contactPolicy: options.contact,
        defaultWakePolicy: options.defaultWakePolicy,
      }
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
