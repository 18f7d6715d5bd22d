import type { Command } from 'commander'
import type { Access, ContactPolicy, WakePolicy } from '../../words/policies.ts'
import {
  access,
  collect,
  collectSkill,
  contactPolicy,
  type SkillOption,
  wakePolicy,
  wakePolicyHelp,
} from './option-values.ts'

/** The description of an agent, as the user gives it. */
export interface AgentOptions {
  name?: string
  description?: string
  skill?: SkillOption[]
  alias?: string[]
  access?: Access
  contact?: ContactPolicy
  defaultWakePolicy?: WakePolicy
}

/** Adds the options that describe an agent. The help of two of them differs between the commands. */
export function addAgentOptions(command: Command, help: { readonly skill: string; readonly alias: string }): Command {
  return command
    .option('--name <name>', 'the name people see')
    .option('--description <text>', 'what the agent does')
    .option('--skill <id:name:tags>', help.skill, collectSkill)
    .option('--alias <handle>', help.alias, collect)
    .option('--access <level>', 'who may see it and send to it: public, project or private', access)
    .option(
      '--contact <policy>',
      'whose mail it accepts: everybody in the project, or only listed agents',
      contactPolicy,
    )
    .option('--default-wake-policy <policy>', wakePolicyHelp, wakePolicy)
}

/** Returns the fields of a request that the options give. Pure. */
export function agentFields(options: AgentOptions) {
  return {
    displayName: options.name,
    description: options.description,
    skills: options.skill,
    aliases: options.alias,
    access: options.access,
    contactPolicy: options.contact,
    defaultWakePolicy: options.defaultWakePolicy,
  }
}
