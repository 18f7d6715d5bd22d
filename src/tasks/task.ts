import type { JsonObject } from '../lib/json.ts'
import { type Caller, operates } from '../registry/callers/caller.ts'
import { int, json, type NounOf, nullable, text, word } from '../storage/columns.ts'
import type { Priority } from '../words/policies.ts'
import type { TaskState } from '../words/task-states.ts'
import type { TaskRole } from './state.ts'

export const taskFields = {
  id: text,
  projectId: text,
  contextId: text,
  /** The agent that it was sent to: A2A clients reach it at this agent's address. It never changes. Source: D18. */
  agentId: text,
  /** Its worker: at first that agent, then the one that it was handed over to. An agent's id, or `operator`. */
  assigneeId: text,
  /** The caller that sent the first message: an agent's id or `operator`. */
  originatorId: text,
  state: word<TaskState>(),
  /** Counts state changes and messages; 0: not stored yet. Artifacts are not counted, so that a harness can stream them. */
  version: int,
  /** The number of the status message; null: there is none. */
  statusMessageSeq: nullable(int),
  statusAt: int,
  /** Why the gateway moved the task by its own decision: `expired`. null: a party moved it. */
  reason: nullable(text),
  priority: word<Priority>(),
  taggedConcepts: json<readonly string[]>(),
  metadata: nullable(json<JsonObject>()),
  messageCount: int,
  chunkCount: int,
  /** Bytes of its messages, artifact chunks and metadata, as `Encoded.size` counts them. */
  size: int,
  expiresAt: nullable(int),
  createdAt: int,
  updatedAt: int,
}
/** A task's row: its state, without history and artifacts. */
export type Task = NounOf<typeof taskFields>

/** A2A messages and artifacts are stored as the ProtoJSON that the client sent (specification §5.5). */
export type A2aMessage = JsonObject & { messageId: string; role: string; parts: JsonObject[] }
export type A2aArtifact = JsonObject & { artifactId: string; parts: JsonObject[] }

/** A task with its parties, messages and artifacts. */
export interface TaskDocument {
  readonly task: Task
  readonly originator: string
  /** The agent that it was sent to. */
  readonly agent: string
  readonly assignee: string
  readonly statusMessage: A2aMessage | null
  readonly history: readonly A2aMessage[]
  readonly artifacts: readonly A2aArtifact[]
  /** Counts of what does not fit into an answer; absent: all of it fits. */
  readonly omitted?: Omitted
}

/** Numbers of the oldest messages, and of the newest artifact chunks, that an answer leaves out. */
export interface Omitted {
  readonly messages: number
  readonly artifactPieces: number
}

/** The fields that tell the caller's roles. */
export type TaskParties = Pick<Task, 'id' | 'projectId' | 'assigneeId' | 'originatorId'>

/** The caller's roles as a party of a task. `rolesIn` also knows who was the assignee before. */
export function rolesOf(caller: Caller, task: TaskParties): TaskRole[] {
  if (caller.kind === 'operator') {
    const isParty = caller.id === task.originatorId || caller.projectId === task.projectId
    return isParty && operates(caller, task.projectId) ? ['assignee', 'originator'] : []
  }
  const roles: TaskRole[] = []
  if (caller.id === task.assigneeId) roles.push('assignee')
  if (caller.id === task.originatorId) roles.push('originator')
  return roles
}
