import { Problem } from '../errors.ts'
import { identityOf } from '../registry/agents.ts'
import type { Caller } from '../registry/caller.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import type { TaskRole } from './state.ts'
import { rolesOf, type Task, type TaskDocument } from './task.ts'
import { findTask, lockTask, readArtifacts, readHistory, readTaskMessage } from './task-store.ts'

const everything = Number.MAX_SAFE_INTEGER

/** How much of a task's history an answer carries that was not asked for more: a task may have ten thousand messages. */
export const historyRecent = 100

/** The task and what the caller is to it. A task of others is as absent as one that does not exist. */
export async function requireTask(db: Reader, caller: Caller, id: string): Promise<{ task: Task; roles: TaskRole[] }> {
  return asSeenBy(caller, id, await findTask(db, id))
}

/** The same, for whoever is about to change it: nobody else does before the transaction ends. */
export async function requireTaskToChange(
  tx: Transaction,
  caller: Caller,
  id: string,
): Promise<{ task: Task; roles: TaskRole[] }> {
  return asSeenBy(caller, id, await lockTask(tx, id))
}

function asSeenBy(caller: Caller, id: string, task: Task | undefined): { task: Task; roles: TaskRole[] } {
  const roles = task ? rolesOf(caller, task) : []
  if (!task || roles.length === 0) {
    throw new Problem('task-not-found', {
      detail: `No task ${id}, or it is not yours. \`GET /v1/tasks\` lists those you can see.`,
    })
  }
  return { task, roles }
}

/**
 * A task with its history and artifacts, all as of this state of it: what came later is not in it.
 * @param historyLength undefined: all of it; 0: none; else the newest so many (specification §3.2.4)
 */
export async function loadTaskDocument(db: Reader, task: Task, options: DocumentOptions = {}): Promise<TaskDocument> {
  return load(db, task, options, (id) => identityOf(db, id))
}

/** A page of tasks. Each party is looked up once. */
export function loadTaskDocuments(
  db: Reader,
  tasks: readonly Task[],
  options: DocumentOptions = {},
): Promise<TaskDocument[]> {
  const known = new Map<string, Promise<string>>()
  const identity = (id: string): Promise<string> => {
    const found = known.get(id) ?? identityOf(db, id)
    known.set(id, found)
    return found
  }
  return Promise.all(tasks.map((task) => load(db, task, options, identity)))
}

interface DocumentOptions {
  historyLength?: number | undefined
  artifacts?: boolean
}

async function load(
  db: Reader,
  task: Task,
  options: DocumentOptions,
  identity: (id: string) => Promise<string>,
): Promise<TaskDocument> {
  const originator = await identity(task.originatorId)
  const assignee = await identity(task.assigneeId)
  return { ...(await loadTaskContent(db, task, options)), originator, assignee }
}

/** What was said and made in a task, without the names of its parties. */
export type TaskContent = Omit<TaskDocument, 'originator' | 'assignee'>

export async function loadTaskContent(db: Reader, task: Task, options: DocumentOptions = {}): Promise<TaskContent> {
  return {
    task,
    statusMessage: task.statusMessageSeq === null ? null : await readTaskMessage(db, task.id, task.statusMessageSeq),
    history: await readHistory(db, task, options.historyLength ?? everything),
    artifacts: options.artifacts === false ? [] : await readArtifacts(db, task),
  }
}
