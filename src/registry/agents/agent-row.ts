import { sql } from '../../storage/statement.ts'
import type { Access, ContactPolicy, WakePolicy } from '../../words/policies.ts'
import type { Agent, Skill } from './agent.ts'

export interface AgentRow {
  id: string
  projectId: string
  handle: string
  displayName: string | null
  description: string | null
  aliases: string
  skills: string
  inputModes: string
  outputModes: string
  access: string
  contactPolicy: string
  defaultWakePolicy: string
  version: number
  createdAt: number
  updatedAt: number
}

export const agentColumns =
  sql.raw(`a.id, a.project_id as "projectId", a.handle, a.display_name as "displayName", a.description, a.aliases, a.skills,
  a.input_modes as "inputModes", a.output_modes as "outputModes", a.access, a.contact_policy as "contactPolicy", a.default_wake_policy as "defaultWakePolicy",
  a.version, a.created_at as "createdAt", a.updated_at as "updatedAt"`)

export function rowOfAgent(agent: Agent): AgentRow {
  return {
    ...agent,
    aliases: JSON.stringify(agent.aliases),
    skills: JSON.stringify(agent.skills),
    inputModes: JSON.stringify(agent.inputModes),
    outputModes: JSON.stringify(agent.outputModes),
  }
}

export function agentFromRow(row: AgentRow): Agent {
  return {
    ...row,
    aliases: JSON.parse(row.aliases) as string[],
    skills: JSON.parse(row.skills) as Skill[],
    inputModes: JSON.parse(row.inputModes) as string[],
    outputModes: JSON.parse(row.outputModes) as string[],
    access: row.access as Access,
    contactPolicy: row.contactPolicy as ContactPolicy,
    defaultWakePolicy: row.defaultWakePolicy as WakePolicy,
  }
}
