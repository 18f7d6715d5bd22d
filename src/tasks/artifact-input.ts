import { Problem } from '../errors.ts'
import { newUuid } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Reader } from '../storage/database.ts'
import { type NewChunk, withChunks } from './artifact.ts'
import { hasArtifact } from './artifact-store.ts'
import { encode } from './encoded.ts'
import type { A2aArtifact, Task } from './task.ts'
import { requireRoomForChunk } from './task-capacity.ts'

export interface ArtifactInput {
  /** ProtoJSON of an A2A artifact. Without `artifactId` it gets a new one. */
  readonly artifact: JsonObject
  /** Adds to the artifact of that id. Otherwise the artifact starts here, and replaces one of the same id. */
  readonly append?: boolean | undefined
  /** Default: true unless it appends. */
  readonly lastChunk?: boolean | undefined
}

/**
 * Checks and encodes artifact chunks in their order. Nothing is written: a writer that fails late costs those that share its
 * transaction. Errors: `invalid-request`, `payload-too-large`.
 */
export async function prepareChunks(db: Reader, task: Task, inputs: readonly ArtifactInput[]): Promise<NewChunk[]> {
  const chunks: NewChunk[] = []
  const started = new Set<string>()
  for (const input of inputs) {
    const chunk = toChunk(input)
    const { artifactId, append } = chunk
    if (append && !started.has(artifactId) && !(await hasArtifact(db, task.id, artifactId))) {
      throw new Problem('invalid-request', {
        field: 'artifact.artifactId',
        detail: `artifact.artifactId: the task has no artifact "${artifactId}" to append to. Send its first piece without \`append\`.`,
      })
    }
    const encoded = encode(chunk.artifact, 'artifact')
    requireRoomForChunk(withChunks(task, chunks), encoded)
    started.add(artifactId)
    chunks.push({ encoded, ...chunk })
  }
  return chunks
}

function toChunk({ artifact, append = false, lastChunk = !append }: ArtifactInput): Omit<NewChunk, 'encoded'> {
  const { artifactId: given } = artifact
  const artifactId = typeof given === 'string' && given ? given : newUuid()
  return { artifactId, append, lastChunk, artifact: { ...artifact, artifactId } as A2aArtifact }
}
