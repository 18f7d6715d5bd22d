import type { Reader } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

const openMax = 1_000

// It is the assignee's turn in these states.
const isOpen = sql`assignee_id = ${p('agentId')} and state in ('submitted', 'working')`
const open = statement<{ agentId: string; limit: number }, { id: string }>(
  sql`select id from task where ${isOpen} order by status_at desc ${limited}`,
)
const any = statement<{ agentId: string }, { one: number }>(sql`select 1 as "one" from task where ${isOpen} limit 1`)

/** Returns the ids of the tasks that an agent has to work on, the newest first, at most a thousand. Source: D29. */
export async function listOpenTasks(db: Reader, agentId: string): Promise<string[]> {
  return (await db.all(open, { agentId, limit: openMax })).map(({ id }) => id)
}

/** Whether an agent has a task to work on. */
export async function hasOpenTasks(db: Reader, agentId: string): Promise<boolean> {
  return (await db.get(any, { agentId })) !== undefined
}
