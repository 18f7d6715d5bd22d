import type { Reader } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

/** The states in which the assignee acts next. */
const openStates = ['submitted', 'working'] as const
const openMax = 500

interface Open {
  agentId: string
  state: string
  limit: number
}
const open = statement<Open, { id: string }>(
  sql`select id from task where assignee_id = ${p('agentId')} and state = ${p('state')} order by status_at desc, id desc ${limited}`,
)

/** Returns the ids of the tasks that an agent has to work on: at most five hundred of each state, the newest. Source: D29. */
export async function listOpenTasks(db: Reader, agentId: string): Promise<string[]> {
  const found = await Promise.all(openStates.map((state) => db.all(open, { agentId, state, limit: openMax })))
  return found.flat().map(({ id }) => id)
}

/** Whether an agent has a task to work on. */
export async function hasOpenTasks(db: Reader, agentId: string): Promise<boolean> {
  for (const state of openStates) if (await db.get(open, { agentId, state, limit: 1 })) return true
  return false
}
