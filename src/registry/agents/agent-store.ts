import { Collision, type Reader, type Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { limited, lockingStatement, p, remembered, sql, statement } from '../../storage/statement.ts'
import type { Access, ContactPolicy, WakePolicy } from '../../words/policies.ts'
import type { Agent, Skill } from './agent.ts'
import { claimNames, replaceNames, reserveNames } from './agent-names.ts'

const agentColumns =
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
const byName = remembered(
  statement<
    { projectId: string; name: string },
    AgentRow
  >(sql`select ${agentColumns} from agent_name n join agent a on a.id = n.agent_id
  where n.project_id = ${p('projectId')} and n.name = ${p('name')}`),
)
const accessByName = statement<{ projectId: string; name: string }, { access: string }>(
  sql`select a.access from agent_name n join agent a on a.id = n.agent_id
  where n.project_id = ${p('projectId')} and n.name = ${p('name')}`,
)
const byId = statement<{ id: string }, AgentRow>(sql`select ${agentColumns} from agent a where a.id = ${p('id')}`)
const handleById = statement<{ id: string }, { handle: string }>(sql`select handle from agent where id = ${p('id')}`)
const nameAndPolicyById = statement<{ id: string }, { handle: string; projectId: string; defaultWakePolicy: string }>(
  sql`select handle, project_id as "projectId", default_wake_policy as "defaultWakePolicy" from agent where id = ${p('id')}`,
)
const namesById = new ListStatement<object, { id: string; handle: string; projectId: string }>(
  (ids) => sql`select id, handle, project_id as "projectId" from agent where id in (${ids})`,
)
const pageOfPublic = statement<{ except: string; projectId: string; handle: string; limit: number }, AgentRow>(
  sql`select ${agentColumns} from agent a where a.access = 'public' and a.project_id <> ${p('except')}
    and (a.project_id, a.handle) > (${p('projectId')}, ${p('handle')}) order by a.project_id, a.handle ${limited}`,
)
const pageOfProject = statement<{ projectId: string; after: string; limit: number }, AgentRow>(
  sql`select ${agentColumns} from agent a where a.project_id = ${p('projectId')} and a.handle > ${p('after')}
    order by a.handle ${limited}`,
)
const countOfProject = statement<{ projectId: string }, { count: number }>(
  sql`select count(*) as "count" from agent where project_id = ${p('projectId')}`,
)
export async function insertAgent(tx: Transaction, agent: Agent): Promise<void> {
  await claimNames(tx, agent, null)
  await tx.run(insert, rowOfAgent(agent))
}

export async function updateAgent(tx: Transaction, agent: Agent, before: Agent): Promise<void> {
  await replaceNames(tx, agent, before.displayName)
  if ((await tx.run(update, rowOfAgent(agent))) === 0) throw new Collision(`Agent ${agent.id} was changed meanwhile.`)
}

/** Locks an agent, so that it is not removed before the transaction ends. Returns false when it does not exist. */
export async function lockAgent(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.get(lock, { id })) !== undefined
}

/** Deletes an agent. Its names stay reserved until they are freed. */
export async function deleteAgent(tx: Transaction, agent: Agent): Promise<void> {
  await reserveNames(tx, agent)
  if ((await tx.run(remove, { id: agent.id })) === 0) throw new Collision(`Agent ${agent.id} was removed meanwhile.`)
}

/** Finds the agent with a handle, an alias or a display name that is an address (`@donna`). */
export async function findAgent(db: Reader, projectId: string, name: string): Promise<Agent | undefined> {
  const row = await db.get(byName, { projectId, name })
  return row && agentFromRow(row)
}

/** Reads only the access of the agent with a name. */
export async function accessOf(db: Reader, projectId: string, name: string): Promise<Access | undefined> {
  return (await db.get(accessByName, { projectId, name }))?.access as Access | undefined
}

export async function findAgentById(db: Reader, id: string): Promise<Agent | undefined> {
  const row = await db.get(byId, { id })
  return row && agentFromRow(row)
}

/** Returns the handle, the project and the default policy of an agent. */
export async function findNameAndPolicy(
  db: Reader,
  id: string,
): Promise<{ handle: string; projectId: string; defaultWakePolicy: WakePolicy } | undefined> {
  const row = await db.get(nameAndPolicyById, { id })
  return row && { ...row, defaultWakePolicy: row.defaultWakePolicy as WakePolicy }
}

/** Reads only the handle of an agent. */
export async function findHandle(db: Reader, id: string): Promise<string | undefined> {
  return (await db.get(handleById, { id }))?.handle
}

/** Reads handles and projects by the agents' ids. Removed agents are missing. */
export async function findNames(
  db: Reader,
  ids: readonly string[],
): Promise<Map<string, { handle: string; projectId: string }>> {
  const rows = await namesById.all(db, {}, [...new Set(ids)])
  return new Map(rows.map(({ id, handle, projectId }) => [id, { handle, projectId }]))
}

/** Lists the public agents of all projects but one after an agent, in the order of projects and handles. */
export async function listPublicAgentsAfter(
  db: Reader,
  except: string,
  after: { readonly projectId: string; readonly handle: string },
  limit: number,
): Promise<Agent[]> {
  return (await db.all(pageOfPublic, { except, ...after, limit })).map(agentFromRow)
}

/** Lists the agents of a project after a handle, in the order of handles. */
export async function listAgentsAfter(db: Reader, projectId: string, after: string, limit: number): Promise<Agent[]> {
  return (await db.all(pageOfProject, { projectId, after, limit })).map(agentFromRow)
}

export async function countAgents(db: Reader, projectId: string): Promise<number> {
  return (await db.get(countOfProject, { projectId }))?.count ?? 0
}

/** Returns the characters of what an agent says about itself. */
export function sizeOfAgent({ description, skills, inputModes, outputModes, aliases }: Agent): number {
  return (description?.length ?? 0) + JSON.stringify([skills, inputModes, outputModes, aliases]).length
}

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

function rowOfAgent(agent: Agent): AgentRow {
  return {
    ...agent,
    aliases: JSON.stringify(agent.aliases),
    skills: JSON.stringify(agent.skills),
    inputModes: JSON.stringify(agent.inputModes),
    outputModes: JSON.stringify(agent.outputModes),
  }
}

function agentFromRow(row: AgentRow): Agent {
  return {
    ...row,
    aliases: listOf<string>(row.aliases),
    skills: listOf<Skill>(row.skills),
    inputModes: listOf<string>(row.inputModes),
    outputModes: listOf<string>(row.outputModes),
    access: row.access as Access,
    contactPolicy: row.contactPolicy as ContactPolicy,
    defaultWakePolicy: row.defaultWakePolicy as WakePolicy,
  }
}

/** Most agents have no aliases and no skills. */
const listOf = <Item>(text: string): Item[] => (text === '[]' ? [] : (JSON.parse(text) as Item[]))
