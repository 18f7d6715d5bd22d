import type { Task } from '../../src/tasks/task.ts'

/** A task that nothing has happened to since it was made, at `now`. */
export function newTask(
  fields: Pick<Task, 'id' | 'projectId' | 'contextId' | 'agentId' | 'originatorId'> & Partial<Task>,
  now: number,
): Task {
  return {
    assigneeId: fields.agentId,
    state: 'submitted',
    version: 1,
    statusMessageSeq: null,
    statusAt: now,
    reason: null,
    priority: 'normal',
    taggedConcepts: [],
    metadata: null,
    messageCount: 0,
    chunkCount: 0,
    size: 0,
    expiresAt: null,
    createdAt: now,
    updatedAt: now,
    ...fields,
  }
}
