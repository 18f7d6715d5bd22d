import { Problem } from '../errors.ts'
import { inputLimits, outputLimits } from '../limits.ts'
import { nameOfParty, type Party, partyOf } from '../registry/agents/party.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { readArtifacts } from './artifact-store.ts'
import { type AnswerReading, readContentWithin } from './content-within.ts'
import { findAssignedBefore } from './former-assignee-store.ts'
import type { TaskRole } from './state.ts'
import { type A2aMessage, rolesOf, type Task, type TaskDocument } from './task.ts'
import { readHistory, readTaskMessage } from './task-message-store.ts'
import { findTask, lockTask } from './task-store.ts'

const historyMax = inputLimits.historyLength.max

/** Messages in an answer whose request names no number of them: a task may have ten thousand. */
export const historyRecent = 100

/** Tasks that are larger, in bytes, are read over several iterations of the event loop, one after the other. */
export const largeTask = 1024 * 1024

/** The task and the caller's roles in it. For a caller without a role the task does not exist. Errors: `task-not-found`. */
export async function requireTask(db: Reader, caller: Caller, id: string): Promise<{ task: Task; roles: TaskRole[] }> {
  return asSeenBy(db, caller, id, await findTask(db, id))
}

/** The same, with the task locked until the transaction ends, for a change that depends on what is read. */
export async function requireTaskToChange(
  tx: Transaction,
  caller: Caller,
  id: string,
): Promise<{ task: Task; roles: TaskRole[] }> {
  return asSeenBy(tx, caller, id, await lockTask(tx, id))
}

async function asSeenBy(
  db: Reader,
  caller: Caller,
  id: string,
  task: Task | undefined,
): Promise<{ task: Task; roles: TaskRole[] }> {
  const roles = task ? await rolesIn(db, caller, task) : []
  if (!task || roles.length === 0) throw taskNotFound(id)
  return { task, roles }
}

/** The caller's roles in a task. Empty: the caller must not learn that the task exists. */
export async function rolesIn(db: Reader, caller: Caller, task: Task): Promise<TaskRole[]> {
  const roles = rolesOf(caller, task)
  if (roles.length > 0 || caller.kind === 'operator') return roles
  return (await findAssignedBefore(db, caller.id, [task.id])).size > 0 ? ['observer'] : []
}

/** The problem of a task that does not exist for a caller. */
export function taskNotFound(id: string, field?: string): Problem {
  return new Problem('task-not-found', {
    ...(field === undefined ? {} : { field }),
    detail: `${field === undefined ? '' : `${field}: `}Task not found: there is no task ${id}, or it is not yours. List your tasks to find it.`,
    extra: { taskId: id },
  })
}

/**
 * A task with its history and artifacts as of this state of it: without what was added later.
 * @param options.historyLength number of the newest messages; undefined: as many as an answer carries (specification §3.2.4)
 */
export async function loadTaskDocument(db: Reader, task: Task, options: DocumentOptions = {}): Promise<TaskDocument> {
  const viewer = options.viewer ?? task.projectId
  return named(await loadTaskContent(db, task, options), async (id) => nameOfParty(await partyOf(db, id), viewer))
}

/**
 * The first tasks of a page, as many as an answer has room for and at least one. Each party is looked up once.
 */
export async function loadTaskDocuments(
  db: Reader,
  tasks: readonly Task[],
  options: DocumentOptions = {},
): Promise<TaskDocument[]> {
  const known = new Map<string, Promise<Party>>()
  const find = (id: string): Promise<Party> => {
    const found = known.get(id) ?? partyOf(db, id)
    known.set(id, found)
    return found
  }
  const contents = await loadTaskContents(db, tasks, options)
  const documents = contents.map((content) => {
    const viewer = options.viewer ?? content.task.projectId
    return named(content, async (id) => nameOfParty(await find(id), viewer))
  })
  return Promise.all(documents)
}

interface DocumentOptions extends AnswerReading {
  historyLength?: number | undefined
  artifacts?: boolean
  /** The project in whose words parties are named; default: the task's. Source: D19. */
  viewer?: string | undefined
  /** The most bytes of history and artifacts in one answer; default: those of the limits. */
  sizeMax?: number | undefined
}

/** How the content of a task may be read for an answer. */
export type TaskReading = Pick<DocumentOptions, 'sizeMax' | 'beginReading'>

/** The newest messages and the artifacts, for the answer to a change that is stored, or to one that the task's version refuses. */
export function certainAnswer({ projectId }: Caller, reading: TaskReading = {}): DocumentOptions {
  return { ...reading, isCertain: true, historyLength: historyRecent, viewer: projectId }
}

async function named(content: TaskContent, identity: (id: string) => Promise<string>): Promise<TaskDocument> {
  const { originatorId, agentId, assigneeId } = content.task
  const assignee = await identity(assigneeId)
  const agent = agentId === assigneeId ? assignee : await identity(agentId)
  return { ...content, originator: await identity(originatorId), agent, assignee }
}

/** A task with its messages and artifacts, without the identities of its parties. */
export type TaskContent = Omit<TaskDocument, 'originator' | 'agent' | 'assignee'>

/** The same as `loadTaskDocument`, without the parties. */
export async function loadTaskContent(db: Reader, task: Task, options: DocumentOptions = {}): Promise<TaskContent> {
  return (await loadWithin(db, task, options, options.sizeMax ?? outputLimits.task.max)).content
}

/**
 * Returns the content of a task that has just been started, as `loadTaskContent` would read it. undefined: it may be too large for an
 * answer.
 * @param message the first message of the task, as JSON
 */
export function contentOfStarted(
  task: Task,
  message: string,
  historyLength: number = historyMax,
): TaskContent | undefined {
  if (task.size > outputLimits.task.max) return undefined
  const history = historyLength > 0 ? [JSON.parse(message) as A2aMessage] : []
  return { task, statusMessage: null, history, artifacts: [] }
}

/** The same as `loadTaskDocuments`, without the parties. */
export async function loadTaskContents(
  db: Reader,
  tasks: readonly Task[],
  options: DocumentOptions = {},
): Promise<TaskContent[]> {
  let left = options.sizeMax ?? outputLimits.taskPage.max
  if (tasks.reduce((size, task) => size + task.size, 0) <= largeTask) {
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
  { historyLength = historyMax, artifacts = true, beginReading, isCertain }: DocumentOptions,
  sizeMax: number,
): Promise<{ content: TaskContent; size: number }> {
  const limit = Math.min(historyLength, historyMax)
  // Most tasks are small. Only the others need the sizes of their content to be read.
  if (task.size > Math.min(sizeMax, largeTask)) {
    const { size, omitted, ...read } = await readContentWithin(db, task, {
      historyLength: limit,
      artifacts,
      sizeMax,
      beginReading,
      isCertain,
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
