import { Problem } from '../errors.ts'
import { identityOf } from '../registry/agents.ts'
import type { Caller } from '../registry/caller.ts'
import type { Reader } from '../storage/database.ts'
import type { TaskRole } from './state.ts'
import { rolesOf, type Task, type TaskDocument } from './task.ts'
import { findTask, readArtifacts, readHistory, readTaskMessage } from './task-store.ts'

const everything = Number.MAX_SAFE_INTEGER

/** The task and what the caller is to it. A task of others is as absent as one that does not exist. */
export async function requireTask(db: Reader, caller: Caller, id: string): Promise<{ task: Task; roles: TaskRole[] }> {
  const task = await findTask(db, id)
  const roles = task ? rolesOf(caller, task) : []
  if (!task || roles.length === 0) {
    throw new Problem('task-not-found', {
      detail: `No task ${id}, or it is not yours. \`GET /v1/tasks\` lists those you can see.`,
    })
  }
  return { task, roles }
}

/**
 * A task with its history and artifacts.
 * @param historyLength undefined: all of it; 0: none; else the newest so many (specification §3.2.4)
 */
export async function loadTaskDocument(
  db: Reader,
  task: Task,
  options: { historyLength?: number | undefined; artifacts?: boolean } = {},
): Promise<TaskDocument> {
  return {
    task,
    originator: await identityOf(db, task.originatorId),
    assignee: await identityOf(db, task.assigneeId),
    statusMessage: task.statusMessageSeq === null ? null : await readTaskMessage(db, task.id, task.statusMessageSeq),
    history: await readHistory(db, task, options.historyLength ?? everything),
    artifacts: options.artifacts === false ? [] : await readArtifacts(db, task),
  }
}
