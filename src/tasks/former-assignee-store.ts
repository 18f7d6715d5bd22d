import type { Reader, Transaction } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { p, sql, statement } from '../storage/statement.ts'

const insert = statement<{ taskId: string; agentId: string }>(sql`insert into task_former_assignee (task_id, agent_id)
  values (${p('taskId')}, ${p('agentId')}) on conflict (task_id, agent_id) do nothing`)
const assignedBefore = new ListStatement<{ agentId: string }, { taskId: string }>(
  (taskIds) => sql`select task_id as "taskId" from task_former_assignee
    where task_id in (${taskIds}) and agent_id = ${p('agentId')}`,
)

/** Records that an agent was the assignee of a task: it may still read the task. Source: D18. */
export async function addFormerAssignee(tx: Transaction, taskId: string, agentId: string): Promise<void> {
  await tx.run(insert, { taskId, agentId })
}

/** Returns those of the tasks that an agent was the assignee of. */
export async function findAssignedBefore(
  db: Reader,
  agentId: string,
  taskIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await assignedBefore.all(db, { agentId }, taskIds)).map(({ taskId }) => taskId))
}
