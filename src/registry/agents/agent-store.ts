import type { RowOf } from '../../storage/columns.ts'
import { Collision, type Reader, type Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { limited, lockingStatement, p, remembered, sql, statement } from '../../storage/statement.ts'
import type { Access } from '../../words/policies.ts'
import type { Agent } from './agent.ts'
import { claimNames, replaceNames, reserveNames } from './agent-names.ts'
import { type agentFields, agents } from './agent-row.ts'

type AgentRow = RowOf<typeof agentFields>
const columns = agents.select('a')
const insert = agents.insert()
const changed = agents.setAllBut('id', 'projectId', 'handle', 'createdAt')
const update = statement<AgentRow>(
  sql`update agent set ${changed} where id = ${p('id')} and version = ${p('version')} - 1`,
)
const lock = lockingStatement<{ id: string }, { id: string }>('agent', sql`select id from agent where id = ${p('id')}`)
const remove = statement<{ id: string }>(sql`delete from agent where id = ${p('id')}`)
const byName = remembered(
  statement<
    { projectId: string; name: string },
    AgentRow
  >(sql`select ${columns} from agent_name n join agent a on a.id = n.agent_id
  where n.project_id = ${p('projectId')} and n.name = ${p('name')}`),
)
const accessByName = statement<{ projectId: string; name: string }, { access: Access }>(
  sql`select a.access from agent_name n join agent a on a.id = n.agent_id
  where n.project_id = ${p('projectId')} and n.name = ${p('name')}`,
)
const byId = statement<{ id: string }, AgentRow>(sql`select ${columns} from agent a where a.id = ${p('id')}`)
const handleById = statement<{ id: string }, { handle: string }>(sql`select handle from agent where id = ${p('id')}`)
type NameAndPolicy = Pick<Agent, 'handle' | 'projectId' | 'defaultWakePolicy'>
const nameAndPolicyById = statement<{ id: string }, NameAndPolicy>(
  sql`select ${agents.select('', 'handle', 'projectId', 'defaultWakePolicy')} from agent where id = ${p('id')}`,
)
const namesById = new ListStatement<object, { id: string; handle: string; projectId: string }>(
  (ids) => sql`select id, handle, project_id as "projectId" from agent where id in (${ids})`,
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
export async function insertAgent(tx: Transaction, agent: Agent): Promise<void> {
  await claimNames(tx, agent, null)
  await tx.run(insert, agents.toRow(agent))
}

export async function updateAgent(tx: Transaction, agent: Agent, before: Agent): Promise<void> {
  await replaceNames(tx, agent, before.displayName)
  if ((await tx.run(update, agents.toRow(agent))) === 0) throw new Collision(`Agent ${agent.id} was changed meanwhile.`)
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
  return row && agents.fromRow({ ...row })
}

/** Reads only the access of the agent with a name. */
export async function accessOf(db: Reader, projectId: string, name: string): Promise<Access | undefined> {
  return (await db.get(accessByName, { projectId, name }))?.access
}

export async function findAgentById(db: Reader, id: string): Promise<Agent | undefined> {
  const row = await db.get(byId, { id })
  return row && agents.fromRow(row)
}

/** Returns the handle, the project and the default policy of an agent. */
export function findNameAndPolicy(db: Reader, id: string): Promise<NameAndPolicy | undefined> {
  return db.get(nameAndPolicyById, { id })
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
  return (await db.all(pageOfPublic, { except, ...after, limit })).map(agents.fromRow)
}

/** Lists the agents of a project after a handle, in the order of handles. */
export async function listAgentsAfter(db: Reader, projectId: string, after: string, limit: number): Promise<Agent[]> {
  return (await db.all(pageOfProject, { projectId, after, limit })).map(agents.fromRow)
}

export async function countAgents(db: Reader, projectId: string): Promise<number> {
  return (await db.get(countOfProject, { projectId }))?.count ?? 0
}

/** Returns the characters of what an agent says about itself. */
export function sizeOfAgent({ description, skills, inputModes, outputModes, aliases }: Agent): number {
  return (description?.length ?? 0) + JSON.stringify([skills, inputModes, outputModes, aliases]).length
}
