import type { JsonObject } from '../lib/json.ts'
import type { NewEvent } from '../log/event.ts'
import type { TaskState } from './state.ts'
import type { Task } from './task.ts'
import type { Chunk } from './task-store.ts'

interface StateChange {
  task: Task
  previousState: TaskState | null
  newState: TaskState
  version: number
  statusMessageSeq: number | null
  actor: string
  originator: string
  assignee: string
  now: number
  reason?: string | null
  /** The mail that caused the change, if a message did. */
  mail?: NewEvent | undefined
}

/** The log's row for a change of state. Both parties hear of it. Source: S1-25. */
export function stateChanged(change: StateChange): NewEvent {
  const { task, mail } = change
  return {
    type: 'task.state_changed',
    actor: change.actor,
    audience: partiesOf(task),
    taskId: task.id,
    data: {
      taskId: task.id,
      contextId: task.contextId,
      previousState: change.previousState,
      newState: change.newState,
      version: change.version,
      originator: change.originator,
      assignee: change.assignee,
      priority: task.priority,
      taggedConcepts: task.taggedConcepts,
      lastModifiedAt: new Date(change.now).toISOString(),
      ...(change.statusMessageSeq === null ? {} : { statusMessageSeq: change.statusMessageSeq }),
      ...(change.reason ? { reason: change.reason } : {}),
      ...(mail ? { message: mailSummary(mail.data), wakePolicy: mail.data.wakePolicy } : {}),
    },
  }
}

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

/** The agents that a task concerns; an operator that sent it has no subscriptions. */
function partiesOf(task: Task): string[] {
  const ids = new Set([task.assigneeId, task.originatorId])
  ids.delete('operator')
  return [...ids]
}

function mailSummary(data: JsonObject): JsonObject {
  const { messageId, from, priority, taggedConcepts, isReplyTo, threadId } = data
  return { messageId, from, priority, taggedConcepts, isReplyTo, threadId }
}
