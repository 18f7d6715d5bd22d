import type { JsonObject } from '../lib/json.ts'
import type { NewEvent, Routing } from '../log/event.ts'
import type { WakePolicy } from '../registry/agents/agent.ts'
import { type Party, policiesOf } from '../registry/agents/party.ts'
import type { Chunk } from './artifact.ts'
import type { TaskState } from './state.ts'
import type { Task } from './task.ts'

interface StateChange {
  /** null: the task is new. */
  readonly previousState: TaskState | null
  readonly actor: string
  /** The one who worked on it before, if the task was handed over. */
  readonly previousAssignee?: Party
  /** Absent: the gateway's own decision. */
  readonly actorId?: string | undefined
  readonly originator: Party
  readonly assignee: Party
  /** The event of the mail that comes with the change, if a message does. */
  readonly mail?: NewEvent | undefined
  /** `message`: the status message answers the calls that wait. Source: D33. */
  readonly answerAs?: 'task' | 'message' | undefined
  /** The policy that the sender chose for all parties; absent: each party's own. Source: D20. */
  readonly wakePolicy?: WakePolicy | undefined
}

/**
 * The event of a task's change of state or assignee; `task` is the task after it. Its audience: both parties, and the assignee before.
 * Source: S1-25, D18.
 */
export function stateChanged(
  task: Task,
  { previousState, previousAssignee, actor, actorId, originator, assignee, mail, answerAs, wakePolicy }: StateChange,
): NewEvent {
  const parties = [originator, assignee, ...(previousAssignee ? [previousAssignee] : [])]
  const routing: Routing = {
    ...(mail && previousAssignee ? { recipientId: task.assigneeId } : {}),
    ...(wakePolicy === undefined ? policiesOf(parties) : {}),
  }
  return {
    type: 'task.state_changed',
    actor,
    ...(actorId === undefined ? {} : { actorId }),
    audience: partiesOf(task, previousAssignee?.id),
    taskId: task.id,
    data: {
      taskId: task.id,
      contextId: task.contextId,
      previousState,
      newState: task.state,
      version: task.version,
      originator: originator.identity,
      assignee: assignee.identity,
      ...(previousAssignee ? { previousAssignee: previousAssignee.identity } : {}),
      priority: task.priority,
      taggedConcepts: task.taggedConcepts,
      lastModifiedAt: new Date(task.statusAt).toISOString(),
      ...(task.statusMessageSeq === null ? {} : { statusMessageSeq: task.statusMessageSeq }),
      ...(task.reason ? { reason: task.reason } : {}),
      ...(mail ? { message: mailSummary(mail.data) } : {}),
      ...(answerAs === 'message' ? { answerAs } : {}),
      ...(wakePolicy === undefined ? {} : { wakePolicy }),
      ...(Object.keys(routing).length > 0 ? { routing } : {}),
    },
  }
}

/** The event of a new artifact chunk. It points to the chunk by `seq`. */
export function artifactAdded(task: Task, actor: string, seq: number, chunk: Chunk): NewEvent {
  return {
    type: 'task.artifact_added',
    actor,
    audience: partiesOf(task),
    taskId: task.id,
    data: {
      taskId: task.id,
      contextId: task.contextId,
      seq,
      artifactId: chunk.artifactId,
      append: chunk.append,
      lastChunk: chunk.lastChunk,
    },
  }
}

/** The ids of the agents that take part in a task. The operator is left out: it has no subscriptions. */
function partiesOf(task: Task, ...others: (string | undefined)[]): string[] {
  const ids = new Set([task.assigneeId, task.originatorId, ...others.filter((id) => id !== undefined)])
  ids.delete('operator')
  return [...ids]
}

function mailSummary(data: JsonObject): JsonObject {
  const { messageId, from, priority, taggedConcepts, isReplyTo, threadId } = data
  return { messageId, from, priority, taggedConcepts, isReplyTo, threadId }
}
