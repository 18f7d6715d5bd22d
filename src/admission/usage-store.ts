import type { Reader, Transaction } from '../storage/database.ts'
import { RowsStatement } from '../storage/rows.ts'
import { p, sql, statement } from '../storage/statement.ts'

/** The bytes that an agent has stored. */
export interface AgentUsage {
  readonly agentId: string
  readonly projectId: string
  readonly bytes: number
}

const add = new RowsStatement<{ agentId: string; bytes: number }>(
  'text text bigint',
  (rows) => sql`insert into usage (agent_id, project_id, bytes) values ${rows}
    on conflict (agent_id) do update set bytes = usage.bytes + excluded.bytes returning agent_id as "agentId", bytes`,
)
const ofAgent = statement<{ agentId: string }, { bytes: number }>(
  sql`select bytes from usage where agent_id = ${p('agentId')}`,
)
const ofProject = statement<{ projectId: string }, { bytes: number }>(
  sql`select cast(coalesce(sum(bytes), 0) as bigint) as "bytes" from usage where project_id = ${p('projectId')}`,
)
const giveBack = statement<{ agentId: string; bytes: number }>(sql`update usage
  set bytes = case when bytes > ${p('bytes')} then bytes - ${p('bytes')} else 0 end where agent_id = ${p('agentId')}`)

/** Adds to what agents have stored. Returns what they have by then. */
export async function addUsage(tx: Transaction, added: readonly AgentUsage[]): Promise<Map<string, number>> {
  // In one order, so that no two gateways wait for each other.
  const rows = [...added].sort((a, b) => (a.agentId < b.agentId ? -1 : 1))
  const now = await add.all(
    tx,
    rows.map(({ agentId, projectId, bytes }) => [agentId, projectId, bytes]),
  )
  return new Map(now.map(({ agentId, bytes }) => [agentId, bytes]))
}

/** The bytes that an agent has stored. */
export async function readAgentUsage(db: Reader, agentId: string): Promise<number> {
  return (await db.get(ofAgent, { agentId }))?.bytes ?? 0
}

/** The bytes that all agents of a project have stored, those that were removed included. */
export async function readProjectUsage(db: Reader, projectId: string): Promise<number> {
  return (await db.get(ofProject, { projectId }))?.bytes ?? 0
}

/** Takes off what retention has removed. */
export async function giveBackUsage(tx: Transaction, agentId: string, bytes: number): Promise<void> {
  await tx.run(giveBack, { agentId, bytes })
}
