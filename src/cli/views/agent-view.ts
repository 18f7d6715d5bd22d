import type { Io } from '../io.ts'
import { fields, table } from '../table.ts'
import { plain } from '../terminal-text.ts'

/** An agent as the gateway shows it. */
export interface AgentView {
  handle: string
  displayName?: string | null
  description?: string | null
  aliases?: string[]
  skills?: { id: string; name?: string; description?: string; tags?: string[] }[]
  access?: string
  contactPolicy?: string
  defaultWakePolicy?: string
  keys?: { keyId?: string; label?: string | null; createdAt?: string }[]
  createdAt?: string
  updatedAt?: string
}

export function agentTable(io: Io, agents: readonly AgentView[]): string {
  return table(
    io,
    ['HANDLE', 'NAME', 'ACCESS', 'SKILLS', 'DESCRIPTION'],
    agents.map((agent) => [
      agent.handle,
      agent.displayName,
      agent.access,
      agent.skills?.map((skill) => skill.id).join(','),
      agent.description,
    ]),
    'No agents yet. Add one with: rouse agent add @donna',
  )
}

export function agentText(agent: AgentView): string {
  const text = fields({
    handle: agent.handle,
    name: agent.displayName,
    description: agent.description,
    aliases: agent.aliases?.join(', '),
    access: agent.access,
    contact: agent.contactPolicy,
    'wake policy': agent.defaultWakePolicy,
    created: agent.createdAt,
    updated: agent.updatedAt,
  })
  const skills = (agent.skills ?? []).map(
    (skill) =>
      `  ${plain(skill.id)}  ${plain(skill.name)}${skill.tags?.length ? `  [${plain(skill.tags.join(', '))}]` : ''}\n`,
  )
  const keys = (agent.keys ?? []).map((key) => `  ${plain(key.keyId)}  ${plain(key.label)}\n`)
  return text + section('skills', skills) + section('keys', keys)
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.join('')}`
}
