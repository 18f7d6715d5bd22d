import { Problem } from '../errors.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import type { Access, Agent, Skill, WakePolicy } from './agent.ts'

interface AgentRow {
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
  defaultWakePolicy: string
  version: number
  createdAt: number
  updatedAt: number
}

const columns =
  sql.raw(`a.id, a.project_id as "projectId", a.handle, a.display_name as "displayName", a.description, a.aliases, a.skills,
  a.input_modes as "inputModes", a.output_modes as "outputModes", a.access, a.default_wake_policy as "defaultWakePolicy",
  a.version, a.created_at as "createdAt", a.updated_at as "updatedAt"`)

const insert =
  statement<AgentRow>(sql`insert into agent (id, project_id, handle, display_name, description, aliases, skills,
    input_modes, output_modes, access, default_wake_policy, version, created_at, updated_at)
  values (${p('id')}, ${p('projectId')}, ${p('handle')}, ${p('displayName')}, ${p('description')}, ${p('aliases')}, ${p('skills')},
    ${p('inputModes')}, ${p('outputModes')}, ${p('access')}, ${p('defaultWakePolicy')}, ${p('version')}, ${p('createdAt')}, ${p('updatedAt')})`)
const update =
  statement<AgentRow>(sql`update agent set display_name = ${p('displayName')}, description = ${p('description')},
    aliases = ${p('aliases')}, skills = ${p('skills')}, input_modes = ${p('inputModes')}, output_modes = ${p('outputModes')},
    access = ${p('access')}, default_wake_policy = ${p('defaultWakePolicy')}, version = ${p('version')}, updated_at = ${p('updatedAt')}
  where id = ${p('id')}`)
const remove = statement<{ id: string }>(sql`delete from agent where id = ${p('id')}`)
const byName = statement<
  { projectId: string; name: string },
  AgentRow
>(sql`select ${columns} from agent_name n join agent a on a.id = n.agent_id
  where n.project_id = ${p('projectId')} and n.name = ${p('name')}`)
const byId = statement<{ id: string }, AgentRow>(sql`select ${columns} from agent a where a.id = ${p('id')}`)
const handleById = statement<{ id: string }, { handle: string }>(sql`select handle from agent where id = ${p('id')}`)
const byProject = statement<{ projectId: string }, AgentRow>(
  sql`select ${columns} from agent a where a.project_id = ${p('projectId')} order by a.handle`,
)
const nameOwner = statement<{ projectId: string; name: string }, { agentId: string }>(
  sql`select agent_id as "agentId" from agent_name where project_id = ${p('projectId')} and name = ${p('name')}`,
)
const insertName = statement<{ projectId: string; name: string; agentId: string }>(
  sql`insert into agent_name (project_id, name, agent_id) values (${p('projectId')}, ${p('name')}, ${p('agentId')})`,
)
const removeNames = statement<{ agentId: string }>(sql`delete from agent_name where agent_id = ${p('agentId')}`)

export async function insertAgent(tx: Transaction, agent: Agent): Promise<void> {
  await claimNames(tx, agent)
  await tx.run(insert, toRow(agent))
}

export async function updateAgent(tx: Transaction, agent: Agent): Promise<void> {
  await tx.run(removeNames, { agentId: agent.id })
  await claimNames(tx, agent)
  await tx.run(update, toRow(agent))
}

export async function deleteAgent(tx: Transaction, agent: Agent): Promise<void> {
  await tx.run(removeNames, { agentId: agent.id })
  await tx.run(remove, { id: agent.id })
}

/** The agent that answers to a handle or an alias (`@donna`). */
export async function findAgent(db: Reader, projectId: string, name: string): Promise<Agent | undefined> {
  const row = await db.get(byName, { projectId, name })
  return row && fromRow(row)
}

export async function findAgentById(db: Reader, id: string): Promise<Agent | undefined> {
  const row = await db.get(byId, { id })
  return row && fromRow(row)
}

/** The handle alone: what lists of tasks need, without the card. */
export async function findHandle(db: Reader, id: string): Promise<string | undefined> {
  return (await db.get(handleById, { id }))?.handle
}

export async function listAgents(db: Reader, projectId: string): Promise<Agent[]> {
  return (await db.all(byProject, { projectId })).map(fromRow)
}

async function claimNames(tx: Transaction, agent: Agent): Promise<void> {
  const { projectId, id: agentId } = agent
  for (const name of new Set([agent.handle, ...agent.aliases])) {
    const taken = await tx.get(nameOwner, { projectId, name })
    if (taken) {
      const field = name === agent.handle ? 'handle' : 'aliases'
      throw new Problem('agent-exists', {
        field,
        detail: `${field}: ${name} is taken in this project. Choose another name.`,
      })
    }
    await tx.run(insertName, { projectId, name, agentId })
  }
}

function toRow(agent: Agent): AgentRow {
  return {
    ...agent,
    aliases: JSON.stringify(agent.aliases),
    skills: JSON.stringify(agent.skills),
    inputModes: JSON.stringify(agent.inputModes),
    outputModes: JSON.stringify(agent.outputModes),
  }
}

function fromRow(row: AgentRow): Agent {
  return {
    ...row,
    aliases: JSON.parse(row.aliases) as string[],
    skills: JSON.parse(row.skills) as Skill[],
    inputModes: JSON.parse(row.inputModes) as string[],
    outputModes: JSON.parse(row.outputModes) as string[],
    access: row.access as Access,
    defaultWakePolicy: row.defaultWakePolicy as WakePolicy,
  }
}
