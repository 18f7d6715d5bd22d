import { rowBytes } from '../admission/usage.ts'
import { Problem } from '../errors.ts'
import { type Caller, partyFrom } from '../registry/callers/caller.ts'
import type { Transaction } from '../storage/database.ts'
import { isTerminal } from '../words/task-states.ts'
import { type NewChunk, withChunks } from './artifact.ts'
import { type ArtifactInput, prepareChunks } from './artifact-input.ts'
import { insertChunk } from './artifact-store.ts'
import type { TaskContext } from './context.ts'
import { type AnswerSize, changeAnswer, loadTaskDocument, requireTaskToChange } from './read-task.ts'
import type { Task, TaskDocument } from './task.ts'
import { artifactAdded, projectsOf } from './task-events.ts'
import { updateChunkCount } from './task-store.ts'
import { readParties } from './transition.ts'
import { VersionConflict } from './version-conflict.ts'

interface AddArtifactInput extends ArtifactInput {
  readonly expectedVersion?: number | undefined
  readonly answer?: AnswerSize | undefined
}

/**
 * Adds an artifact, or a chunk of one, to a task that is not finished. The assignee only. Returns the task without history and
 * artifacts: otherwise a client that streams a thousand chunks would get a thousand growing answers. Errors: `task-not-found`,
 * `forbidden`, `task-finished`, `VersionConflict`, `invalid-request`, `payload-too-large`, `quota-exceeded`. Source: A2A specification §4.2.2.
 */
export async function addArtifact(
  context: TaskContext,
  caller: Caller,
  taskId: string,
  input: AddArtifactInput,
): Promise<{ document: TaskDocument; artifactId: string }> {
  context.usage.requireRoom(caller)
  const { task, artifactId } = await context.db.transaction(async (tx) => {
    const task = await requireOpenTask(tx, caller, taskId, input.expectedVersion)
    const [chunk] = (await prepareChunks(tx, task, [input])) as [NewChunk]
    context.usage.add(tx, caller, rowBytes + chunk.encoded.bytes)
    await updateChunkCount(tx, task, chunk.encoded)
    const next = { ...withChunks(task, [chunk]), updatedAt: tx.now }
    await insertChunk(tx, taskId, next.chunkCount, chunk)
    const known = { actor: caller.identity, actorId: caller.id, ...(await readParties(tx, task, [partyFrom(caller)])) }
    for (const projectId of projectsOf(task, known)) {
      const added = artifactAdded(task, known, { seq: next.chunkCount, chunk }, projectId)
      await context.append(tx, projectId, [added])
    }
    return { task: next, artifactId: chunk.artifactId }
  })
  return {
    document: await loadTaskDocument(context.db, task, {
      ...changeAnswer(caller, input.answer),
      historyLength: 0,
      artifacts: false,
    }),
    artifactId,
  }
}

/** The task, locked, if the caller may add artifacts to it. */
async function requireOpenTask(
  tx: Transaction,
  caller: Caller,
  taskId: string,
  expectedVersion: number | undefined,
): Promise<Task> {
  const { task, roles } = await requireTaskToChange(tx, caller, taskId)
  if (!roles.includes('assignee')) {
    throw new Problem('forbidden', { detail: 'Only the assignee of a task may add artifacts to it.' })
  }
  if (isTerminal(task.state)) {
    throw new Problem('task-finished', { detail: `Task ${taskId} is ${task.state} and accepts no more artifacts.` })
  }
  if (expectedVersion !== undefined && expectedVersion !== task.version) {
    throw new VersionConflict(task, expectedVersion)
  }
  return task
}
