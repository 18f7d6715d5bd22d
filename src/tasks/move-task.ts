import { bytesOf, rowBytes } from '../admission/usage.ts'
import { Problem } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import { type Caller, partyFrom } from '../registry/callers/caller.ts'
import type { WakePolicy } from '../words/policies.ts'
import { isTerminal, type TaskState } from '../words/task-states.ts'
import { withChunks } from './artifact.ts'
import { type ArtifactInput, prepareChunks } from './artifact-input.ts'
import type { TaskContext } from './context.ts'
import { encode } from './encoded.ts'
import { agentMessage, stampMessage } from './message-input.ts'
import { type AnswerSize, changeAnswer, loadTaskDocument, requireTaskToChange } from './read-task.ts'
import { allowedMoves, requireMove, type TaskRole } from './state.ts'
import type { A2aMessage, Task, TaskDocument } from './task.ts'
import { requireRoomForMessage } from './task-capacity.ts'
import { transition } from './transition.ts'
import { VersionConflict } from './version-conflict.ts'

interface MoveInput {
  readonly to: TaskState
  readonly expectedVersion: number
  /** The status message: ProtoJSON of an A2A message, of which only `parts` is needed. */
  readonly message?: JsonObject | undefined
  readonly artifacts?: readonly ArtifactInput[] | undefined
  /** `message`: a call that waits for the task gets the status message as its answer. Needs `completed` and a message. Source: D33. */
  readonly answerAs?: 'task' | 'message' | undefined
  /** The policy by which the move wakes the parties; absent: each party's own default. Source: D20. */
  readonly wakePolicy?: WakePolicy | undefined
  readonly answer?: AnswerSize | undefined
}

/**
 * Moves a task, with its status message and artifacts, in one transaction. Errors: `task-not-found`, `VersionConflict`, `forbidden`, `invalid-transition` with the allowed moves, `invalid-request`, `payload-too-large`,
 * `quota-exceeded`.
 */
export async function moveTask(
  context: TaskContext,
  caller: Caller,
  taskId: string,
  input: MoveInput,
): Promise<TaskDocument> {
  const { to, expectedVersion, message, artifacts = [], answerAs, wakePolicy, answer } = input
  requireAnswer(input)
  const stored = [...artifacts.map(({ artifact }) => artifact), ...(message ? [message] : [])]
  // A move alone is always possible; a message and artifacts need room.
  if (stored.length > 0) context.usage.requireRoom(caller)
  const moved = await context.db.transaction(async (tx) => {
    const { task, roles } = await requireTaskToChange(tx, caller, taskId)
    if (task.version !== expectedVersion) {
      throw new VersionConflict(task, expectedVersion, allowedMoves(task.state, roles))
    }
    requireMove(task.state, to, roles)
    for (const one of stored) context.usage.add(tx, caller, rowBytes + bytesOf(one))
    const chunks = await prepareChunks(tx, task, artifacts)
    const encoded = message && encode(statusMessage(message, task, { to, roles }), 'message')
    if (encoded) requireRoomForMessage(withChunks(task, chunks), encoded)
    return transition(tx, context, task, {
      to,
      message: encoded,
      artifacts: chunks,
      answerAs,
      wakePolicy,
      ...movedBy(caller),
    })
  })
  return loadTaskDocument(context.db, moved, changeAnswer(caller, answer))
}

/** Cancels a task at any version. Errors: `task-not-found`, `task-finished`, `forbidden` (specification §3.1.5). */
export function cancelTask(
  context: TaskContext,
  caller: Caller,
  taskId: string,
  wakePolicy?: WakePolicy,
): Promise<Task> {
  return context.db.transaction(async (tx) => {
    const { task, roles } = await requireTaskToChange(tx, caller, taskId)
    if (isTerminal(task.state)) {
      throw new Problem('task-finished', {
        detail: `Task ${taskId} is ${task.state} and cannot be canceled any more.`,
        extra: { taskId, state: task.state },
      })
    }
    requireMove(task.state, 'canceled', roles)
    return transition(tx, context, task, { to: 'canceled', wakePolicy, ...movedBy(caller) })
  })
}

/** Only a completed task can be answered by its message. Errors: `invalid-request`. */
function requireAnswer({ to, message, answerAs }: MoveInput): void {
  if (answerAs !== 'message' || (to === 'completed' && message)) return
  throw new Problem('invalid-request', {
    field: 'answerAs',
    detail:
      'answerAs: "message" answers with the status message of a completed task. Send `to: "completed"` and a `message`, or leave it out.',
  })
}

function movedBy(caller: Caller) {
  return { actor: caller.identity, actorId: caller.id, parties: [partyFrom(caller)] }
}

/** A caller with both roles, as the operator, speaks for the one whose move it is. */
function statusMessage(
  message: JsonObject,
  task: Task,
  { to, roles }: { readonly to: TaskState; readonly roles: readonly TaskRole[] },
): A2aMessage {
  const own = agentMessage(message, task)
  const isAssignees = roles.includes('assignee') && allowedMoves(task.state, ['assignee']).includes(to)
  return isAssignees ? own : stampMessage({ ...own, role: 'ROLE_USER' }, task)
}
