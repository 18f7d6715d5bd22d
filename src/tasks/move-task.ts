import { Problem } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { NewEvent } from '../log/event.ts'
import { identityOf } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { bytesOf, rowBytes } from '../registry/shares/usage.ts'
import type { Transaction } from '../storage/database.ts'
import { type ArtifactInput, keepChunk } from './add-artifact.ts'
import type { TaskContext } from './context.ts'
import { agentMessage, stampMessage } from './message-input.ts'
import { historyRecent, loadTaskDocument, requireTaskToChange } from './read-task.ts'
import { requireRoomForMessage, write } from './room.ts'
import { allowedMoves, isTerminal, requireMove, type TaskRole, type TaskState } from './state.ts'
import type { A2aMessage, Task, TaskDocument } from './task.ts'
import { stateChanged } from './task-events.ts'
import { findTask, insertTaskMessage, moveTaskRow } from './task-store.ts'

export interface MoveInput {
  readonly to: TaskState
  readonly expectedVersion: number
  /** The status message: ProtoJSON of an A2A message, of which only `parts` is needed. */
  readonly message?: JsonObject | undefined
  readonly artifacts?: readonly ArtifactInput[] | undefined
}

/**
 * Moves a task, with its status message and artifacts, in one transaction. Errors: `task-not-found`, `version-conflict`
 * with the task as it is, `forbidden`, `invalid-transition` with what is allowed.
 */
export async function moveTask(
  context: TaskContext,
  caller: Caller,
  taskId: string,
  input: MoveInput,
): Promise<TaskDocument> {
  const { message, artifacts = [] } = input
  const stored = [...artifacts.map(({ artifact }) => artifact), ...(message ? [message] : [])]
  // A task can always be moved; what is said with it needs room.
  if (stored.length > 0) context.usage.requireRoom(caller)
  const moved = await context.db.transaction(async (tx) => {
    const { task, roles } = await requireTaskToChange(tx, caller, taskId)
    if (task.version !== input.expectedVersion) throw await conflict(tx, task, roles, input.expectedVersion)
    requireMove(task.state, input.to, roles)
    for (const one of stored) context.usage.add(tx, caller, rowBytes + bytesOf(one))
    return applyMove(context, tx, caller, task, roles, input)
  })
  return loadTaskDocument(context.db, moved, { historyLength: historyRecent })
}

/** Cancels whatever its version. Errors: `task-not-found`, `task-finished` (specification §3.1.5). */
export function cancelTask(context: TaskContext, caller: Caller, taskId: string): Promise<Task> {
  return context.db.transaction(async (tx) => {
    const { task, roles } = await requireTaskToChange(tx, caller, taskId)
    if (isTerminal(task.state)) {
      throw new Problem('task-finished', {
        detail: `Task ${taskId} is ${task.state} and cannot be canceled any more.`,
        extra: { taskId, state: task.state },
      })
    }
    requireMove(task.state, 'canceled', roles)
    return applyMove(context, tx, caller, task, roles, { to: 'canceled', expectedVersion: task.version })
  })
}

async function applyMove(
  context: TaskContext,
  tx: Transaction,
  caller: Caller,
  task: Task,
  roles: readonly TaskRole[],
  input: MoveInput,
): Promise<Task> {
  const events: NewEvent[] = []
  let held = task
  for (const artifact of input.artifacts ?? []) {
    const kept = await keepChunk(tx, held, caller, artifact)
    held = { ...held, chunkCount: kept.seq, size: held.size + kept.size }
    events.push(kept.event)
  }
  const written = input.message && write(statusMessage(input.message, task, roles), 'message')
  if (written) requireRoomForMessage(held, written)
  const seq = written ? await insertTaskMessage(tx, task, written) : null
  const messageCount = seq ?? task.messageCount
  const to = {
    state: input.to,
    expectedVersion: input.expectedVersion,
    statusMessageSeq: seq,
    messageCount,
    size: written?.size ?? 0,
    reason: null,
  }
  if (!(await moveTaskRow(tx, task, to))) {
    throw await conflict(tx, (await findTask(tx, task.id)) as Task, roles, input.expectedVersion)
  }
  events.push(
    stateChanged({
      task,
      previousState: task.state,
      newState: input.to,
      version: task.version + 1,
      statusMessageSeq: seq,
      actor: caller.identity,
      originator: await identityOf(tx, task.originatorId),
      assignee: await identityOf(tx, task.assigneeId),
      now: tx.now,
    }),
  )
  await context.append(tx, task.projectId, events)
  return (await findTask(tx, task.id)) as Task
}

function statusMessage(message: JsonObject, task: Task, roles: readonly TaskRole[]): A2aMessage {
  const own = agentMessage(message, task)
  return roles.includes('assignee') ? own : stampMessage({ ...own, role: 'ROLE_USER' }, task)
}

/** Told with the task as it is, read in the transaction that found it so. */
async function conflict(
  tx: Transaction,
  current: Task,
  roles: readonly TaskRole[],
  expectedVersion: number,
): Promise<Problem> {
  const document = await loadTaskDocument(tx, current, { historyLength: historyRecent })
  return new Problem('version-conflict', {
    field: 'expectedVersion',
    detail: `expectedVersion: the task is at version ${current.version} (${current.state}), not ${expectedVersion}. Read \`current\` and decide again.`,
    extra: { document, allowed: allowedMoves(current.state, roles) },
  })
}
