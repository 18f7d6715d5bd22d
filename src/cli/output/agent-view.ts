import type { Io } from '../../client/io.ts'
import type { AgentView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { fields, table } from './table.ts'
import { whenLong } from './when.ts'

export function agentTable(io: Io, agents: readonly AgentView[]): string {
  return table(
    io,
    ['HANDLE', 'NAME', 'ACCESS', 'SKILLS', 'DESCRIPTION'],
    agents.map((agent) => [
      agent.handle,
      agent.displayName,
      agent.access,
      agent.skills.map((skill) => skill.id).join(','),
      agent.description,
    ]),
    'No agents yet. Add one with: rouse agent add @donna',
    ['NAME', 'ACCESS', 'SKILLS'],
  )
}

export function agentText(io: Io, agent: AgentView): string {
  const text = fields({
    handle: agent.handle,
    name: agent.displayName,
    description: agent.description,
    aliases: agent.aliases.join(', '),
    access: agent.access,
    contact: agent.contactPolicy,
    'wake policy': agent.defaultWakePolicy,
    created: whenLong(io, agent.createdAt),
    updated: whenLong(io, agent.updatedAt),
  })
  const skills = agent.skills.map(
    ({ id, name, tags = [] }) =>
      `  ${plain(id)}  ${plain(name)}${tags.length ? `  [${plain(tags.join(', '))}]` : ''}\n`,
  )
  return skills.length === 0 ? text : `${text}skills:\n${skills.join('')}`
}
