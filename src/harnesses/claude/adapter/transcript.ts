import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '../../../lib/json.ts'
import type { ClaudeSession } from './registry.ts'

/** The trace of a wake in a transcript. `joined`: its text was put into a turn that ran. `queued`: Claude Code has it. */
type Traced = 'began' | 'joined' | 'queued'

/** A turn with large results of tools writes less than this. What is older is not looked for. */
const tailBytes = 4 * 1024 * 1024
const projectsMax = 5_000

/** Looks for a wake at the end of the transcript of a session. undefined: it is not there, or the transcript cannot be read. */
export async function traceIn(session: ClaudeSession, wakeId: string): Promise<Traced | undefined> {
  const path = await transcriptPath(session)
  const text = path === undefined ? undefined : await tailOf(path)
  return text === undefined ? undefined : trace(text, wakeId)
}

/** Returns the strongest trace of a wake in the lines of a transcript. A line that is cut off or no JSON shows nothing. Pure. */
export function trace(text: string, wakeId: string): Traced | undefined {
  const marker = `[Rouse ${wakeId}]`
  const kinds = text
    .split('\n')
    .filter((line) => line.includes(marker))
    .map(kindOf)
  return (['began', 'joined', 'queued'] as const).find((kind) => kinds.includes(kind))
}

/** The model quotes a wake too, and so do results of tools: only what Claude Code itself has written of a prompt counts. */
function kindOf(line: string): Traced | undefined {
  let entry: unknown
  try {
    entry = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isJsonObject(entry)) return undefined
  const { type, operation, attachment, origin } = entry
  if (type === 'user' && isJsonObject(origin) && ['task-notification', 'peer'].includes(String(origin.kind)))
    return 'began'
  if (type === 'attachment' && isJsonObject(attachment) && attachment.type === 'queued_command') return 'joined'
  return type === 'queue-operation' && operation === 'enqueue' ? 'queued' : undefined
}

/** The folder of a project has a name that Claude Code makes of its path; the file has the id. */
async function transcriptPath({ configDirectory, sessionId, cwd }: ClaudeSession): Promise<string | undefined> {
  const projects = join(configDirectory, 'projects')
  const names = await readdir(projects).catch(() => [])
  const usual = cwd.replace(/[^A-Za-z0-9]/g, '-')
  const inOrder = [usual, ...names.slice(0, projectsMax).filter((name) => name !== usual)]
  for (const name of inOrder) {
    const path = join(projects, name, `${sessionId}.jsonl`)
    const file = await open(path, 'r').catch(() => undefined)
    await file?.close()
    if (file) return path
  }
  return undefined
}

async function tailOf(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    const bytes = Math.min(size, tailBytes)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, size - bytes)
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return undefined
  }
}
