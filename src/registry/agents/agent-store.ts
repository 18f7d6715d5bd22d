import { Problem } from '../../errors.ts'
import { Collision, type Reader, type Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { limited, lockingStatement, p, sql, statement } from '../../storage/statement.ts'
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
const accessByName = statement<{ projectId: string; name: string }, { access: string }>(
  sql`select a.access from agent_name n join agent a on a.id = n.agent_id
  where n.project_id = ${p('projectId')} and n.name = ${p('name')}`,
)
const byId = statement<{ id: string }, AgentRow>(sql`select ${columns} from agent a where a.id = ${p('id')}`)
const handleById = statement<{ id: string }, { handle: string }>(sql`select handle from agent where id = ${p('id')}`)
const nameAndPolicyById = statement<{ id: string }, { handle: string; projectId: string; defaultWakePolicy: string }>(
  sql`select handle, project_id as "projectId", default_wake_policy as "defaultWakePolicy" from agent where id = ${p('id')}`,
)
const namesById = new ListStatement<object, { id: string; handle: string; projectId: string }>(
  (ids) => sql`select id, handle, project_id as "projectId" from agent where id in (${ids})`,
)
const byProject = statement<{ projectId: string }, AgentRow>(
  sql`select ${columns} from agent a where a.project_id = ${p('projectId')} order by a.handle`,
)
const pageOfPublic = statement<{ except: string; projectId: string; handle: string; limit: number }, AgentRow>(
  sql`select ${columns} from agent a where a.access = 'public' and a.project_id <> ${p('except')}
    and (a.project_id, a.handle) > (${p('projectId')}, ${p('handle')}) order by a.project_id, a.handle ${limited}`,
)
const pageOfProject = statement<{ projectId: string; after: string; limit: number }, AgentRow>(
  sql`select ${columns} from agent a where a.project_id = ${p('projectId')} and a.handle > ${p('after')}
    order by a.handle ${limited}`,
)
const countOfProject = statement<{ projectId: string }, { count: number }>(
  sql`select count(*) as "count" from agent where project_id = ${p('projectId')}`,
)
const namesOf = statement<{ projectId: string }, { name: string }>(
  sql`select name from agent_name where project_id = ${p('projectId')} order by name`,
)
const insertName = statement<{ projectId: string; name: string; agentId: string }>(
  sql`insert into agent_name (project_id, name, agent_id) values (${p('projectId')}, ${p('name')}, ${p('agentId')})
    on conflict (project_id, name) do nothing`,
)
const reservation = statement<{ projectId: string; name: string }, { handle: string }>(
  sql`select handle from reserved_name where project_id = ${p('projectId')} and name = ${p('name')}`,
)
const reserve = statement<{ projectId: string; agentId: string; handle: string; now: number }>(
  sql`insert into reserved_name (project_id, name, handle, created_at)
    select project_id, name, ${p('handle')}, cast(${p('now')} as bigint) from agent_name
    where agent_id = ${p('agentId')} and project_id = ${p('projectId')}
    on conflict (project_id, name) do nothing`,
)
const useReserved = statement<{ projectId: string; name: string }>(
  sql`delete from reserved_name where project_id = ${p('projectId')} and name = ${p('name')}`,
)
const freeOf = statement<{ projectId: string; handle: string }>(
  sql`delete from reserved_name where project_id = ${p('projectId')} and handle = ${p('handle')}`,
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

/** Locks an agent, so that it is not removed before the transaction ends. Returns false when it does not exist. */
export async function lockAgent(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.get(lock, { id })) !== undefined
}

/** Deletes an agent. Its names stay reserved until they are freed. */
export async function deleteAgent(tx: Transaction, agent: Agent): Promise<void> {
  const { projectId, id: agentId, handle } = agent
  await tx.run(reserve, { projectId, agentId, handle, now: tx.now })
  await tx.run(removeNames, { agentId: agent.id })
  if ((await tx.run(remove, { id: agent.id })) === 0) throw new Collision(`Agent ${agent.id} was removed meanwhile.`)
}

/** Frees the reserved names of a removed agent. Returns how many. */
export function freeNames(tx: Transaction, projectId: string, handle: string): Promise<number> {
  return tx.run(freeOf, { projectId, handle })
}

/** Finds the agent with a handle, an alias or a display name that is an address (`@donna`). */
export async function findAgent(db: Reader, projectId: string, name: string): Promise<Agent | undefined> {
  const row = await db.get(byName, { projectId, name })
  return row && fromRow(row)
}

/** Reads only the access of the agent with a name. */
export async function accessOf(db: Reader, projectId: string, name: string): Promise<Access | undefined> {
  return (await db.get(accessByName, { projectId, name }))?.access as Access | undefined
}

export async function findAgentById(db: Reader, id: string): Promise<Agent | undefined> {
  const row = await db.get(byId, { id })
  return row && fromRow(row)
}

/** Reads only the handle of an agent. */
/** Returns the handle, the project and the default policy of an agent. */
export async function findNameAndPolicy(
  db: Reader,
  id: string,
): Promise<{ handle: string; projectId: string; defaultWakePolicy: WakePolicy } | undefined> {
  const row = await db.get(nameAndPolicyById, { id })
  return row && { ...row, defaultWakePolicy: row.defaultWakePolicy as WakePolicy }
}

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

export async function listAgents(db: Reader, projectId: string): Promise<Agent[]> {
  return (await db.all(byProject, { projectId })).map(fromRow)
}

/** Lists the public agents of all projects but one after an agent, in the order of projects and handles. */
export async function listPublicAgentsAfter(
  db: Reader,
  except: string,
  after: { readonly projectId: string; readonly handle: string },
  limit: number,
): Promise<Agent[]> {
  return (await db.all(pageOfPublic, { except, ...after, limit })).map(fromRow)
}

/** Lists the agents of a project after a handle, in the order of handles. */
export async function listAgentsAfter(db: Reader, projectId: string, after: string, limit: number): Promise<Agent[]> {
  return (await db.all(pageOfProject, { projectId, after, limit })).map(fromRow)
}

export async function countAgents(db: Reader, projectId: string): Promise<number> {
  return (await db.get(countOfProject, { projectId }))?.count ?? 0
}

/** Returns the characters of an agent's description and skills. */
export function sizeOfAgent({ description, skills }: Agent): number {
  return (description?.length ?? 0) + JSON.stringify(skills).length
}

/** Lists all names of a project. */
export async function listNames(db: Reader, projectId: string): Promise<string[]> {
  return (await db.all(namesOf, { projectId })).map(({ name }) => name)
}

/** @param nameBefore the current display name, which may stay although another agent has the address that it makes */
async function claimNames(tx: Transaction, agent: Agent, nameBefore: string | null): Promise<void> {
  const { projectId, id: agentId, handle, aliases, displayName } = agent
  const own = new Set([handle, ...aliases])
  for (const name of own) {
    const field = name === handle ? 'handle' : 'aliases'
    await takeReserved(tx, agent, name, field)
    if ((await tx.run(insertName, { projectId, name, agentId })) > 0) continue
    throw new Problem('agent-exists', {
      field,
      detail: `${field}: ${name} is taken in this project. Choose another name.`,
    })
  }
  const name = addressOfName(displayName)
  if (name === undefined || own.has(name)) return
  if (displayName !== nameBefore) await takeReserved(tx, agent, name, 'displayName')
  if ((await tx.run(insertName, { projectId, name, agentId })) > 0 || displayName === nameBefore) return
  throw new Problem('agent-exists', {
    field: 'displayName',
    detail: `displayName: mail to "${displayName}" goes to another agent of this project. Choose another name.`,
  })
}

/** Frees a reserved name for the agent that had it before it was removed. Errors: `agent-exists` for any other agent. */
async function takeReserved(tx: Transaction, agent: Agent, name: string, field: string): Promise<void> {
  const { projectId, handle } = agent
  const reserved = await tx.get(reservation, { projectId, name })
  if (!reserved) return
  if (reserved.handle === handle) {
    await tx.run(useReserved, { projectId, name })
    return
  }
  const bare = reserved.handle.slice(1)
  throw new Problem('agent-exists', {
    field,
    detail: `${field}: ${name} is reserved for ${reserved.handle}, which was removed. Choose another name, or free the names of that agent: DELETE /v1/agents/${bare}?freeNames=true.`,
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
