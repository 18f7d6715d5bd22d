import type { Command } from 'commander'
import { agentPath, bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
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
import { saveKeyOption, savingKey } from '../options/save-key.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface AgentAddOptions {
  saveKey?: string
  name?: string
  description?: string
  skill?: SkillOption[]
  alias?: string[]
  access?: Access
  contact?: ContactPolicy
  defaultWakePolicy?: WakePolicy
}

export function registerAgentAdd(parent: Command, io: Io): void {
  clientCommand(parent, 'add <handle>', 'add an agent; prints its key once', [
    'rouse agent add @donna --save-key donna.key',
    'rouse agent add @donna --name Donna --skill "review:Code review:typescript,security" --access project',
  ])
    .option(...saveKeyOption)
    .option('--name <name>', 'the name people see')
    .option('--description <text>', 'what the agent does')
    .option('--skill <id:name:tags>', 'a skill as id:name:tag,tag; repeatable', collectSkill)
    .option('--alias <handle>', 'another handle for the same agent; repeatable', collect)
    .option('--access <level>', 'who may see it and send to it: public, project or private', access)
    .option(
      '--contact <policy>',
      'whose mail it accepts: everybody in the project, or only listed agents',
      contactPolicy,
    )
    .option('--default-wake-policy <policy>', wakePolicyHelp, wakePolicy)
    .action(async (handle: string, options: AgentAddOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const body = {
        handle,
        displayName: options.name,
        description: options.description,
        skills: options.skill,
        aliases: options.alias,
        access: options.access,
        contactPolicy: options.contact,
        defaultWakePolicy: options.defaultWakePolicy,
      }
      const answer = await savingKey(options.saveKey, () => gateway.call('POST /v1/agents', { body }))
      const name = plain(answer.agent.handle)
      print.result(
        answer,
        () =>
          `${name} is registered. Its address: ${gateway.url}${agentPath(gateway, bareHandle(name))}/\n` +
          (answer.keyFile === undefined
            ? `key: ${paint(io, 'bold', plain(answer.apiKey))}\nKeep this key: it is shown only now. The agent uses it as ROUSE_KEY, or from a file with ROUSE_KEY_FILE.\n`
            : `key: in ${plain(answer.keyFile)}. The agent uses it with ROUSE_KEY_FILE, --key-file, or rouse login --key-file ${plain(answer.keyFile)}.\n`),
      )
    })
}
