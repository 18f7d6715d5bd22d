import { Problem } from '../errors.ts'
import type { NewEvent } from '../log/event.ts'
import { type Party, partyOf } from '../registry/agents/party.ts'
import { followsTask } from '../registry/followers/follower-store.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import type { WakePolicy } from '../words/policies.ts'
import type { TaskState } from '../words/task-states.ts'
import { type NewChunk, withChunks } from './artifact.ts'
import { insertChunk } from './artifact-store.ts'
import type { TaskContext } from './context.ts'
import type { EncodedPart } from './encoded.ts'
import { isSettled, requireMove } from './state.ts'
import type { Task } from './task.ts'
import { artifactAdded, projectsOf, stateChanged } from './task-events.ts'
import { insertTaskMessage, isShort } from './task-message-store.ts'
import { findTask, insertTask, moveTaskRow, updateMessageCount } from './task-store.ts'
import { VersionConflict } from './version-conflict.ts'

export interface Transition {
  readonly to: TaskState
  /** The identity of the one who moves the task: `@donna`, `@gateway`. */
  readonly actor: string
  /** The id of that agent, or `operator`; absent for the gateway. */
  readonly actorId?: string | undefined
  /** Joins the history. It is the task's status message, unless it came as mail. */
  readonly message?: EncodedPart | undefined
  /** Checked by `prepareChunks`. */
  readonly artifacts?: readonly NewChunk[] | undefined
  /** Why the gateway moves the task by its own decision. */
  readonly reason?: string | undefined
  /** The event of the originator's mail that causes the move. */
  readonly mail?: NewEvent | undefined
  /** The new deadline in ms since the epoch; null: none. Without it the old one stays. */
  readonly expiresAt?: number | null | undefined
  /** `message`: the status message answers the calls that wait. Source: D33. */
  readonly answerAs?: 'task' | 'message' | undefined
  /** The policy that the sender chose for all parties. Source: D20. */
  readonly wakePolicy?: WakePolicy | undefined
  /** Parties that are known already: each saves a read. */
  readonly parties?: readonly Party[] | undefined
}

/**
 * Moves a task: its row, the message and artifacts that come with the move, and the events of all of them. A task of version 0
 * is stored by its first move. Returns the task as it is stored.
 *
 * The caller has read the task with `lockTask` in this transaction, and has checked roles and room. Errors: `invalid-transition`
 * for a move that no caller may make, `version-conflict` if the task has changed since it was read; neither writes anything.
 */
export async function transition(
  tx: Transaction,
  context: Pick<TaskContext, 'append'>,
  task: Task,
  change: Transition,
): Promise<Task> {
  const { artifacts = [], message, mail, actor, actorId, wakePolicy } = change
  const moved = afterTransition(task, change, tx.now)
  const first = isNew(task) && message && isShort(message) ? message : undefined
  if (isNew(task)) await insertTask(tx, moved, first)
  else if (!(await moveTaskRow(tx, task, moved))) throw await staleTask(tx, task)
  const chunks = artifacts.map((chunk, index) => ({ seq: task.chunkCount + index + 1, chunk }))
  for (const { seq, chunk } of chunks) await insertChunk(tx, task.id, seq, chunk)
  if (message && !first) await insertTaskMessage(tx, task.id, moved.messageCount, message)
  const previousState = isNew(task) ? null : task.state
  const parties = { actor, actorId, ...(await readParties(tx, task, change.parties)) }
  const isFollowed = isSettled(moved.state) && (await followsTask(tx, task.originatorId, task.id))
  const changed = { previousState, mail, answerAs: change.answerAs, wakePolicy, isFollowed, ...parties }
  for (const projectId of projectsOf(task, parties)) {
    await context.append(tx, projectId, [
      ...chunks.map((one) => artifactAdded(task, parties, one, projectId)),
      ...(mail && projectId === task.projectId ? [mail] : []),
      stateChanged(moved, changed, projectId),
    ])
  }
  return moved
}

/** The task after a move. Pure. Throws `invalid-transition` where neither party may make the move. */
export function afterTransition(task: Task, change: Transition, now: number): Task {
  const { to, artifacts = [], message, mail, reason = null, expiresAt = task.expiresAt } = change
  if (!isNew(task)) requireMove(task.state, to, ['assignee', 'originator'])
  const counted = artifacts.length > 0 ? withChunks(task, artifacts) : task
  const messageCount = counted.messageCount + (message ? 1 : 0)
  return {
    ...counted,
    messageCount,
    size: counted.size + (message?.size ?? 0),
    state: to,
    version: task.version + 1,
    statusMessageSeq: message && !mail ? messageCount : null,
    statusAt: now,
    reason,
    expiresAt,
    updatedAt: now,
  }
}

/**
 * Adds mail of the originator to a task's history and leaves its state as it is. Returns the task as it is stored. The caller has
 * read it with `lockTask` in this transaction. Errors: `version-conflict`.
 */
export async function addMessage(
  tx: Transaction,
  context: Pick<TaskContext, 'append'>,
  task: Task,
  { message, mail }: { readonly message: EncodedPart; readonly mail: NewEvent },
): Promise<Task> {
  if (!(await updateMessageCount(tx, task, message))) throw await staleTask(tx, task)
  const next = { ...withMessage(task, message), version: task.version + 1, updatedAt: tx.now }
  await insertTaskMessage(tx, task.id, next.messageCount, message)
  await context.append(tx, task.projectId, [mail])
  return next
}

const isNew = (task: Task): boolean => task.version === 0

function withMessage(task: Task, message: EncodedPart): Task {
  return { ...task, messageCount: task.messageCount + 1, size: task.size + message.size }
}

/** The refusal of a change to a task whose row has changed since it was read. */
export async function staleTask(db: Reader, read: Task): Promise<Problem> {
  const current = await findTask(db, read.id)
  if (current) return new VersionConflict(current, read.version)
  return new Problem('task-not-found', { detail: `No task ${read.id}.` })
}

/** Reads the parties of a task, but for those that are known. */
export async function readParties(
  db: Reader,
  { originatorId, assigneeId }: Task,
  known: readonly Party[] = [],
): Promise<{ originator: Party; assignee: Party }> {
  const find = async (id: string): Promise<Party> => known.find((party) => party.id === id) ?? (await partyOf(db, id))
  return { originator: await find(originatorId), assignee: await find(assigneeId) }
}
