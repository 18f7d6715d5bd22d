import type { EncodedPart } from './encoded.ts'
import type { A2aArtifact, Task } from './task.ts'

/** A piece of an artifact as A2A streams it. Without `append` it starts the artifact, or replaces what it held. */
export interface Chunk {
  readonly artifactId: string
  readonly append: boolean
  readonly lastChunk: boolean
  readonly artifact: A2aArtifact
}

/** A chunk that was checked and is ready to be stored. */
export interface NewChunk extends Chunk {
  /** The JSON of `artifact`. */
  readonly encoded: EncodedPart
}

/** The task with these chunks counted. Pure. */
export function withChunks(task: Task, chunks: readonly NewChunk[]): Task {
  const added = chunks.reduce((size, { encoded }) => size + encoded.size, 0)
  return { ...task, chunkCount: task.chunkCount + chunks.length, size: task.size + added }
}

/** Joins chunks to artifacts, in the order in which the artifacts first appear. Pure; linear in the number of parts. */
export function assembleArtifacts(chunks: readonly Chunk[]): A2aArtifact[] {
  const artifacts = new Map<string, A2aArtifact>()
  for (const { artifactId, append, artifact } of chunks) {
    const before = artifacts.get(artifactId)
    if (!append || !before) {
      artifacts.set(artifactId, { ...artifact, parts: [...artifact.parts] })
      continue
    }
    for (const part of artifact.parts) before.parts.push(part)
    Object.assign(before, { ...artifact, parts: before.parts })
  }
  return [...artifacts.values()]
}
