import type { JsonObject } from '../lib/json.ts'
import type { Priority } from '../registry/agents/agent.ts'
import { type Caller, operates } from '../registry/callers/caller.ts'
import type { TaskRole, TaskState } from './state.ts'

/** One task as its row says: the state machine, without history and artifacts. */
export interface Task {
  readonly id: string
  readonly projectId: string
  readonly contextId: string
  readonly assigneeId: string
  /** The caller that sent the first message: an agent's id or `operator`. */
  readonly originatorId: string
  readonly state: TaskState
  /** Counts state changes and messages. Artifacts do not move it, so that whoever streams them need not chase it. */
  readonly version: number
  /** The message of the current status, if it has one. */
  readonly statusMessageSeq: number | null
  readonly statusAt: number
  /** Why the gateway itself moved it: `expired`. */
  readonly reason: string | null
  readonly priority: Priority
  readonly taggedConcepts: readonly string[]
  readonly metadata: JsonObject | null
  readonly messageCount: number
  readonly chunkCount: number
  /** What its messages, pieces of artifacts and metadata are together, as `Written.size` counts it. */
  readonly size: number
  readonly expiresAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** A2A messages and artifacts are kept as the ProtoJSON that they came in (specification §5.5). */
export type A2aMessage = JsonObject & { messageId: string; role: string; parts: JsonObject[] }
export type A2aArtifact = JsonObject & { artifactId: string; parts: JsonObject[] }

/** A task with what was said and made. */
export interface TaskDocument {
  readonly task: Task
  readonly originator: string
  readonly assignee: string
  readonly statusMessage: A2aMessage | null
  readonly history: readonly A2aMessage[]
  readonly artifacts: readonly A2aArtifact[]
  /** What was asked for and does not fit into an answer. */
  readonly omitted?: Omitted
}

/** How many of the oldest messages, and of the newest pieces of artifacts, an answer leaves out. */
export interface Omitted {
  readonly messages: number
  readonly artifactPieces: number
}

/** What tells whose a task is. */
export type TaskParties = Pick<Task, 'id' | 'projectId' | 'assigneeId' | 'originatorId'>

/** What a caller is to a task; empty: it must not learn that the task exists. */
export function rolesOf(caller: Caller, task: TaskParties): TaskRole[] {
  if (caller.kind === 'operator') {
    const concerns = caller.id === task.originatorId || caller.projectId === task.projectId
    return concerns && operates(caller, task.projectId) ? ['assignee', 'originator'] : []
  }
  const roles: TaskRole[] = []
  if (caller.id === task.assigneeId) roles.push('assignee')
  if (caller.id === task.originatorId) roles.push('originator')
  return roles
}
