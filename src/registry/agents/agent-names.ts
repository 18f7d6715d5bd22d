import { Problem } from '../../errors.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { type Agent, addressOfName } from './agent.ts'

interface Around {
  projectId: string
  name: string
  limit: number
}

const namesFrom = statement<Around, { name: string }>(sql`select name from agent_name
  where project_id = ${p('projectId')} and name >= ${p('name')} order by name ${limited}`)
const namesBefore = statement<Around, { name: string }>(sql`select name from agent_name
  where project_id = ${p('projectId')} and name < ${p('name')} order by name desc ${limited}`)
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

/** Takes the names of an agent again after they have changed. Errors: `agent-exists`. */
export async function replaceNames(tx: Transaction, agent: Agent, nameBefore: string | null): Promise<void> {
  await tx.run(removeNames, { agentId: agent.id })
  await claimNames(tx, agent, nameBefore)
}

/** Takes the names of a removed agent from it, and keeps them reserved until they are freed. */
export async function reserveNames(tx: Transaction, { projectId, id: agentId, handle }: Agent): Promise<void> {
  await tx.run(reserve, { projectId, agentId, handle, now: tx.now })
  await tx.run(removeNames, { agentId })
}

/** Frees the reserved names of a removed agent. Returns how many. */
export function freeNames(tx: Transaction, projectId: string, handle: string): Promise<number> {
  return tx.run(freeOf, { projectId, handle })
}

/**
 * Lists up to `max` names of a project: those that come before and after a name in the order of names, so those that begin like
 * it. A project with half as many has all its names in the list.
 */
export async function listNamesAround(db: Reader, projectId: string, name: string, max: number): Promise<string[]> {
  const around = { projectId, name, limit: Math.floor(max / 2) }
  const lists = await Promise.all([db.all(namesBefore, around), db.all(namesFrom, around)])
  return lists.flat().map(({ name }) => name)
}

/**
 * Takes the handle, the aliases and the display name of an agent in its project. Errors: `agent-exists`.
 * @param nameBefore the current display name, which may stay although another agent has the address that it makes
 */
export async function claimNames(tx: Transaction, agent: Agent, nameBefore: string | null): Promise<void> {
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
  throw new Problem('agent-exists', {
    field,
    detail: `${field}: ${name} is reserved for ${reserved.handle}, which was removed.`,
    remedy: 'free-names',
    extra: { agent: reserved.handle.slice(1) },
  })
}
