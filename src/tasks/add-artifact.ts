import { Problem } from '../errors.ts'
import { newUuid } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { NewEvent } from '../log/event.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { bytesOf, rowBytes } from '../registry/shares/usage.ts'
import type { Transaction } from '../storage/database.ts'
import type { TaskContext } from './context.ts'
import { historyRecent, loadTaskDocument, requireTaskToChange } from './read-task.ts'
import { requireRoomForPiece, write } from './room.ts'
import { isTerminal } from './state.ts'
import type { A2aArtifact, Task, TaskDocument } from './task.ts'
import { artifactAdded } from './task-events.ts'
import { type Chunk, findTask, hasArtifact, insertChunk } from './task-store.ts'

export interface ArtifactInput {
  /** ProtoJSON of an A2A artifact; an absent `artifactId` is made. */
  readonly artifact: JsonObject
  /** Adds to the artifact of that id instead of starting it anew. */
  readonly append?: boolean | undefined
  readonly lastChunk?: boolean | undefined
}

/** Adds an artifact, or a piece of one, to a task that is not finished. The assignee only. Answers the task alone. Source: §4.2.2. */
export async function addArtifact(
  context: TaskContext,
  caller: Caller,
  taskId: string,
  input: ArtifactInput & { expectedVersion?: number | undefined },
): Promise<{ document: TaskDocument; artifactId: string }> {
  context.usage.requireRoom(caller)
  const { task, artifactId } = await context.db.transaction(async (tx) => {
    const { task, roles } = await requireTaskToChange(tx, caller, taskId)
    if (!roles.includes('assignee')) {
      throw new Problem('forbidden', { detail: 'Only the assignee of a task adds artifacts to it.' })
    }
    if (isTerminal(task.state)) {
      throw new Problem('task-finished', { detail: `Task ${taskId} is ${task.state} and takes no more artifacts.` })
    }
    if (input.expectedVersion !== undefined && input.expectedVersion !== task.version) {
      throw new Problem('version-conflict', {
        field: 'expectedVersion',
        detail: `expectedVersion: the task is at version ${task.version} (${task.state}), not ${input.expectedVersion}.`,
        extra: { document: await loadTaskDocument(tx, task, { historyLength: historyRecent }) },
      })
    }
    const kept = await keepChunk(tx, task, caller, input)
    context.usage.add(tx, caller, rowBytes + bytesOf(input.artifact))
    await context.append(tx, task.projectId, [kept.event])
    return { task: (await findTask(tx, taskId)) as Task, artifactId: kept.artifactId }
  })
  // Without what was said and made: whoever streams a thousand pieces would get a thousand growing answers.
  return { document: await loadTaskDocument(context.db, task, { historyLength: 0, artifacts: false }), artifactId }
}

/** Keeps one piece within the caller's transaction and answers the event to append for it. */
export async function keepChunk(
  tx: Transaction,
  task: Task,
  caller: Caller,
  input: ArtifactInput,
): Promise<{ seq: number; artifactId: string; size: number; event: NewEvent }> {
  const given = input.artifact.artifactId
  const artifactId = typeof given === 'string' && given ? given : newUuid()
  if (input.append && !(await hasArtifact(tx, task.id, artifactId))) {
    throw new Problem('invalid-request', {
      field: 'artifact.artifactId',
      detail: `artifact.artifactId: the task has no artifact "${artifactId}" to append to. Send its first piece without \`append\`.`,
    })
  }
  const chunk: Chunk = {
    artifactId,
    append: input.append ?? false,
    lastChunk: input.lastChunk ?? !input.append,
    artifact: { ...input.artifact, artifactId } as A2aArtifact,
  }
  const written = write(chunk.artifact, 'artifact')
  requireRoomForPiece(task, written)
  const seq = await insertChunk(tx, task, chunk, written)
  return { seq, artifactId, size: written.size, event: artifactAdded(task, caller.identity, seq, chunk) }
}
