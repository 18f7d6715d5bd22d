import { Problem } from '../../errors.ts'
import type { Reader } from '../../storage/database.ts'
import { requireTask } from '../../tasks/read-task.ts'
import type { Task } from '../../tasks/task.ts'
import type { A2aCall } from './call.ts'
import { requireId } from './params.ts'

/** A task is reached through the address of the agent that it was sent to only, and only by its parties. Errors: `task-not-found`. */
export async function requireCalledTask(db: Reader, call: A2aCall, id: string, field = 'id'): Promise<Task> {
  requireId(id, field)
  const { task } = await requireTask(db, call.caller, id)
  if (task.agentId === call.agent.id) return task
  throw new Problem('task-not-found', {
    detail: `Task not found: there is no task ${id} with ${call.agent.handle}.`,
    extra: { taskId: id },
  })
}
