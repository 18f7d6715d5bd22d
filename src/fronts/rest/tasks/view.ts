import type { JsonObject } from '../../../lib/json.ts'
import type { A2aArtifact, A2aMessage, Omitted, TaskDocument } from '../../../tasks/task.ts'
import type { Priority } from '../../../words/policies.ts'
import type { TaskState } from '../../../words/task-states.ts'
import { instant } from '../instant.ts'

/** A task in a list: without its artifacts. Instants are ISO 8601. */
export interface TaskSummaryView {
  readonly id: string
  readonly contextId: string
  /** Counts state changes and messages: what `If-Match` and `expectedVersion` name. */
  readonly version: number
  readonly state: TaskState
  /** `@donna` */
  readonly originator: string
  /** The agent that it was sent to: A2A clients reach it there. */
  readonly agent: string
  /** The party that works on it. */
  readonly assignee: string
  readonly priority: Priority
  readonly taggedConcepts: readonly string[]
  readonly status: {
    readonly state: TaskState
    readonly timestamp: string
    readonly message?: A2aMessage
  }
  /** The newest messages. */
  readonly history: readonly A2aMessage[]
  /** Of all messages, also of those that `history` leaves out. */
  readonly messageCount: number
  readonly omitted?: Omitted
  readonly metadata?: JsonObject
  /** Why the gateway itself moved the task: `expired`, `agent-removed`. */
  readonly reason?: string
  readonly expiresAt?: string
  readonly createdAt: string
  readonly lastModifiedAt: string
}

/** A task with its artifacts. */
export interface TaskView extends TaskSummaryView {
  readonly artifacts: readonly A2aArtifact[]
}

/** A task, and the artifact that was added to it. */
export interface AddedArtifactView extends TaskSummaryView {
  readonly artifactId: string
}

/** A piece of an artifact, as it was added. */
export interface ArtifactPieceView {
  readonly artifact: A2aArtifact
  readonly append: boolean
  readonly lastChunk: boolean
}

export function taskView(document: TaskDocument): TaskView {
  const { task, originator, agent, assignee, statusMessage, history, artifacts, omitted } = document
  return {
    id: task.id,
    contextId: task.contextId,
    version: task.version,
    state: task.state,
    originator,
    agent,
    assignee,
    priority: task.priority,
    taggedConcepts: task.taggedConcepts,
    status: {
      state: task.state,
      timestamp: instant(task.statusAt),
      ...(statusMessage ? { message: statusMessage } : {}),
    },
    history,
    messageCount: task.messageCount,
    artifacts,
    ...(omitted ? { omitted } : {}),
    ...(task.metadata ? { metadata: task.metadata } : {}),
    ...(task.reason ? { reason: task.reason } : {}),
    ...(task.expiresAt === null ? {} : { expiresAt: instant(task.expiresAt) }),
    createdAt: instant(task.createdAt),
    lastModifiedAt: instant(task.updatedAt),
  }
}

export function taskSummary(document: TaskDocument): TaskSummaryView {
  const { artifacts: _unread, ...summary } = taskView(document)
  return summary
}
