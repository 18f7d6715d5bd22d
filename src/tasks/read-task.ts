import { Problem } from '../errors.ts'
import { asJson } from '../lib/as-json.ts'
import { sizeLimits } from '../limits.ts'
import { nameOfParty, type Party, partyOf } from '../registry/agents/party.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { readArtifacts } from './artifact-store.ts'
import { type ContentPlan, planContent, readContentWithin, readPlanned } from './content-within.ts'
import { findAssignedBefore } from './former-assignee-store.ts'
import type { TaskRole } from './state.ts'
import { type A2aMessage, rolesOf, type Task, type TaskDocument } from './task.ts'
import { readHistory, readTaskMessage } from './task-message-store.ts'
import { findTask, lockTask } from './task-store.ts'

const historyMax = sizeLimits.taskItems.max

/** Messages in an answer whose request names no number of them: a task may have ten thousand. */
export const historyRecent = 100

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
    detail: `${field === undefined ? '' : `${field}: `}Task not found: there is no task ${id}, or it is not yours.`,
    remedy: 'find-task',
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

interface DocumentOptions {
  historyLength?: number | undefined
  artifacts?: boolean
  /** The project in whose words parties are named; default: the task's. Source: D19. */
  viewer?: string | undefined
  /** The most bytes of history and artifacts in the answer; default: that of the limits. */
  sizeMax?: number | undefined
}

/** How much content of a task an answer may have. */
export type AnswerSize = Pick<DocumentOptions, 'sizeMax'>

/** The newest messages and the artifacts, for the answer to a change that is stored, or to one that the task's version refuses. */
export function changeAnswer({ projectId }: Caller, size: AnswerSize = {}): DocumentOptions {
  return { ...size, historyLength: historyRecent, viewer: projectId }
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
  const { sizeMax = sizeLimits.answer.max } = options
  // Most tasks are small. Only the others need the sizes of their content to be read.
  if (task.size <= sizeMax) return loadSmall(db, task, options)
  return contentOf(task, await readContentWithin(db, task, { ...wantedOf(options), sizeMax }))
}

/**
 * Returns the content of a task that a message has just started, as `loadTaskContent` would read it. undefined: it may be too large for an
 * answer.
 */
export function contentOfStarted(task: Task, message: A2aMessage, historyLength = historyMax): TaskContent | undefined {
  if (task.size > sizeLimits.answer.max) return undefined
  return { task, statusMessage: null, history: historyLength > 0 ? [asJson(message)] : [], artifacts: [] }
}

/** The same as `loadTaskDocuments`, without the parties. */
export async function loadTaskContents(
  db: Reader,
  tasks: readonly Task[],
  options: DocumentOptions = {},
): Promise<TaskContent[]> {
  const { sizeMax = sizeLimits.answer.max } = options
  if (tasks.reduce((size, task) => size + task.size, 0) <= sizeMax) {
    return Promise.all(tasks.map((task) => loadSmall(db, task, options)))
  }
  const planned: { readonly task: Task; readonly plan: ContentPlan | undefined }[] = []
  let size = 0
  for (const task of tasks) {
    const left = sizeMax - size
    const plan = task.size <= Math.min(left, tinyTask) ? undefined : await planOf(db, task, options, left)
    const isWhole = !plan || plan.omitted.messages + plan.omitted.artifactPieces === 0
    if ((!isWhole || (plan?.size ?? 0) > left) && planned.length > 0) break
    planned.push({ task, plan })
    size += plan?.size ?? task.size
  }
  const contents: TaskContent[] = []
  for (const { task, plan } of planned) {
    contents.push(plan ? contentOf(task, await readPlanned(db, task, plan)) : await loadSmall(db, task, options))
  }
  return contents
}

/** Tasks of a large page that are at most so large are counted as they are stored: to read their sizes would cost more. */
const tinyTask = 16 * 1024

function planOf(db: Reader, task: Task, options: DocumentOptions, left: number): Promise<ContentPlan> {
  return planContent(db, task, { ...wantedOf(options), sizeMax: left })
}

/** Reads content that is not counted. */
async function loadSmall(db: Reader, task: Task, options: DocumentOptions): Promise<TaskContent> {
  const { historyLength, artifacts } = wantedOf(options)
  return {
    task,
    statusMessage: task.statusMessageSeq === null ? null : await readTaskMessage(db, task.id, task.statusMessageSeq),
    history: await readHistory(db, task, historyLength),
    artifacts: artifacts ? await readArtifacts(db, task) : [],
  }
}

function contentOf(task: Task, { omitted, ...read }: Awaited<ReturnType<typeof readPlanned>>): TaskContent {
  const isWhole = omitted.messages + omitted.artifactPieces === 0
  return { task, ...read, ...(isWhole ? {} : { omitted }) }
}

function wantedOf({ historyLength = historyMax, artifacts = true }: DocumentOptions) {
  return { historyLength: Math.min(historyLength, historyMax), artifacts }
}
