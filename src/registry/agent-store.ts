import { Problem } from '../errors.ts'
import { Collision, type Reader, type Transaction } from '../storage/database.ts'
import { lockingStatement, p, sql, statement } from '../storage/statement.ts'
import { type Access, type Agent, addressOfName, type ContactPolicy, type Skill, type WakePolicy } from './agent.ts'

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
  contactPolicy: string
  defaultWakePolicy: string
  version: number
  createdAt: number
  updatedAt: number
}

const columns =
  sql.raw(`a.id, a.project_id as "projectId", a.handle, a.display_name as "displayName", a.description, a.aliases, a.skills,
  a.input_modes as "inputModes", a.output_modes as "outputModes", a.access, a.contact_policy as "contactPolicy", a.default_wake_policy as "defaultWakePolicy",
  a.version, a.created_at as "createdAt", a.updated_at as "updatedAt"`)

const insert =
  statement<AgentRow>(sql`insert into agent (id, project_id, handle, display_name, description, aliases, skills,
    input_modes, output_modes, access, contact_policy, default_wake_policy, version, created_at, updated_at)
  values (${p('id')}, ${p('projectId')}, ${p('handle')}, ${p('displayName')}, ${p('description')}, ${p('aliases')}, ${p('skills')},
    ${p('inputModes')}, ${p('outputModes')}, ${p('access')}, ${p('contactPolicy')}, ${p('defaultWakePolicy')}, ${p('version')}, ${p('createdAt')}, ${p('updatedAt')})`)
const update =
  statement<AgentRow>(sql`update agent set display_name = ${p('displayName')}, description = ${p('description')},
    aliases = ${p('aliases')}, skills = ${p('skills')}, input_modes = ${p('inputModes')}, output_modes = ${p('outputModes')},
    access = ${p('access')}, contact_policy = ${p('contactPolicy')}, default_wake_policy = ${p('defaultWakePolicy')}, version = ${p('version')}, updated_at = ${p('updatedAt')}
  where id = ${p('id')} and version = ${p('version')} - 1`)
const lock = lockingStatement<{ id: string }, { id: string }>('agent', sql`select id from agent where id = ${p('id')}`)
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
const namesOf = statement<{ projectId: string; hidden: number }, { name: string }>(
  sql`select n.name from agent_name n join agent a on a.id = n.agent_id
    where n.project_id = ${p('projectId')} and (a.access <> 'private' or ${p('hidden')} = 1) order by n.name`,
)
const insertName = statement<{ projectId: string; name: string; agentId: string }>(
  sql`insert into agent_name (project_id, name, agent_id) values (${p('projectId')}, ${p('name')}, ${p('agentId')})
    on conflict (project_id, name) do nothing`,
)
const removeNames = statement<{ agentId: string }>(sql`delete from agent_name where agent_id = ${p('agentId')}`)

export async function insertAgent(tx: Transaction, agent: Agent): Promise<void> {
  await claimNames(tx, agent, null)
  await tx.run(insert, toRow(agent))
}

export async function updateAgent(tx: Transaction, agent: Agent, before: Agent): Promise<void> {
  await tx.run(removeNames, { agentId: agent.id })
  await claimNames(tx, agent, before.displayName)
  if ((await tx.run(update, toRow(agent))) === 0) throw new Collision(`Agent ${agent.id} was changed meanwhile.`)
}

/** Keeps an agent from being removed before the transaction ends. False: it is gone. */
export async function lockAgent(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.get(lock, { id })) !== undefined
}

export async function deleteAgent(tx: Transaction, agent: Agent): Promise<void> {
  await tx.run(removeNames, { agentId: agent.id })
  if ((await tx.run(remove, { id: agent.id })) === 0) throw new Collision(`Agent ${agent.id} was removed meanwhile.`)
}

/** The agent that answers to a handle, an alias or a name that is an address (`@donna`). */
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

/** Every name of a project; those of private agents only if asked for. */
export async function listNames(db: Reader, projectId: string, withPrivate: boolean): Promise<string[]> {
  return (await db.all(namesOf, { projectId, hidden: withPrivate ? 1 : 0 })).map(({ name }) => name)
}

/** @param nameBefore the display name that it has: kept, though it is no address where another had it first */
async function claimNames(tx: Transaction, agent: Agent, nameBefore: string | null): Promise<void> {
  const { projectId, id: agentId, handle, aliases, displayName } = agent
  const own = new Set([handle, ...aliases])
  for (const name of own) {
    if ((await tx.run(insertName, { projectId, name, agentId })) > 0) continue
    const field = name === handle ? 'handle' : 'aliases'
    throw new Problem('agent-exists', {
      field,
      detail: `${field}: ${name} is taken in this project. Choose another name.`,
    })
  }
  const name = addressOfName(displayName)
  if (name === undefined || own.has(name)) return
  if ((await tx.run(insertName, { projectId, name, agentId })) > 0 || displayName === nameBefore) return
  throw new Problem('agent-exists', {
    field: 'displayName',
    detail: `displayName: mail to "${displayName}" goes to another agent of this project. Choose another name, or one with a space in it, which is no address.`,
  })
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
    contactPolicy: row.contactPolicy as ContactPolicy,
    defaultWakePolicy: row.defaultWakePolicy as WakePolicy,
  }
}
