import type { LogEvent } from '../log/event.ts'
import type { Reader } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import type { A2aMessage, Task } from './task.ts'
import { readTaskMessage } from './task-message-store.ts'

const newestChange = statement<{ taskId: string; projectId: string }, { data: string }>(sql`select data from event
  where task_id = ${p('taskId')} and project_id = ${p('projectId')} and type = 'task.state_changed' order by log_id desc limit 1`)

/**
 * The status message of a completed task, if its assignee wants it to be the whole answer to a call that waits. Undefined: the
 * task is the answer. Source: D33.
 */
export async function readMessageAnswer(db: Reader, task: Task): Promise<A2aMessage | undefined> {
  if (task.state !== 'completed' || task.statusMessageSeq === null) return undefined
  const row = await db.get(newestChange, { taskId: task.id, projectId: task.projectId })
  const data = row && (JSON.parse(row.data) as LogEvent['data'])
  if (data?.answerAs !== 'message') return undefined
  return (await readTaskMessage(db, task.id, task.statusMessageSeq)) ?? undefined
}
