import { Problem } from '../errors.ts'
import { inputLimits, outputLimits } from '../limits.ts'
import { identityOf } from '../registry/agents/agents.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { readArtifacts } from './artifact-store.ts'
import { readContentWithin } from './content-within.ts'
import type { TaskRole } from './state.ts'
import { rolesOf, type Task, type TaskDocument } from './task.ts'
import { readHistory, readTaskMessage } from './task-message-store.ts'
import { findTask, lockTask } from './task-store.ts'

const historyMax = inputLimits.historyLength.max

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
 * @param historyLength undefined: as much as an answer carries; 0: none; else the newest so many (specification §3.2.4)
 */
export async function loadTaskDocument(db: Reader, task: Task, options: DocumentOptions = {}): Promise<TaskDocument> {
  return named(await loadTaskContent(db, task, options), (id) => identityOf(db, id))
}

/**
 * A page of tasks: as many of them, from the first, as an answer has room for, and the first in any case. Each party is looked
 * up once.
 */
export async function loadTaskDocuments(
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
  const contents = await loadTaskContents(db, tasks, options)
  return Promise.all(contents.map((content) => named(content, identity)))
}

export interface DocumentOptions {
  historyLength?: number | undefined
  artifacts?: boolean
}

async function named(content: TaskContent, identity: (id: string) => Promise<string>): Promise<TaskDocument> {
  const { originatorId, assigneeId } = content.task
  return { ...content, originator: await identity(originatorId), assignee: await identity(assigneeId) }
}

/** What was said and made in a task, without the names of its parties. */
export type TaskContent = Omit<TaskDocument, 'originator' | 'assignee'>

/** Most tasks are smaller than an answer may be: those are read without a look at sizes. */
export async function loadTaskContent(db: Reader, task: Task, options: DocumentOptions = {}): Promise<TaskContent> {
  return (await loadWithin(db, task, options, outputLimits.task.max)).content
}

/** The same for a page of tasks, which ends where it has no more room. */
export async function loadTaskContents(
  db: Reader,
  tasks: readonly Task[],
  options: DocumentOptions = {},
): Promise<TaskContent[]> {
  let left = outputLimits.taskPage.max
  if (tasks.reduce((size, task) => size + task.size, 0) <= left) {
    return Promise.all(tasks.map((task) => loadTaskContent(db, task, options)))
  }
  const contents: TaskContent[] = []
  for (const task of tasks) {
    const { content, size } = await loadWithin(db, task, options, Math.min(left, outputLimits.task.max))
    const isWhole = content.omitted === undefined && size <= left
    if (!isWhole && contents.length > 0) break
    contents.push(content)
    left -= size
  }
  return contents
}

async function loadWithin(
  db: Reader,
  task: Task,
  { historyLength = historyMax, artifacts = true }: DocumentOptions,
  sizeMax: number,
): Promise<{ content: TaskContent; size: number }> {
  const limit = Math.min(historyLength, historyMax)
  if (task.size > sizeMax) {
    const { size, omitted, ...read } = await readContentWithin(db, task, {
      historyLength: limit,
      artifacts,
      sizeMax,
    })
    const isWhole = omitted.messages + omitted.artifactPieces === 0
    return { content: { task, ...read, ...(isWhole ? {} : { omitted }) }, size }
  }
  const content = {
    task,
    statusMessage: task.statusMessageSeq === null ? null : await readTaskMessage(db, task.id, task.statusMessageSeq),
    history: await readHistory(db, task, limit),
    artifacts: artifacts ? await readArtifacts(db, task) : [],
  }
  return { content, size: task.size }
}
