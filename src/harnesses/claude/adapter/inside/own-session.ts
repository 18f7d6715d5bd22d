import { join } from 'node:path'
import { processStart } from '../../../../bridge/processes.ts'
import type { Io } from '../../../../client/io.ts'
import { readRecord } from '../registry.ts'

/** The session of Claude Code that a program of ours runs in. */
interface OwnSession {
  readonly pid: number
  /** ISO 8601; absent where the system does not say. */
  readonly startedAt?: string
}

/** The session that the environment names; undefined: this is no child of Claude Code, or of one that ends with its turn. */
export function ownSession(env: Io['env']): OwnSession | undefined {
  const pid = Number(env.CLAUDE_PID)
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isAttended(env)) return undefined
  const startedAt = processStart(pid)?.startedAt
  return { pid, ...(startedAt === undefined ? {} : { startedAt }) }
}

/** The conversation that the session has now, by the registry: it changes under the process. undefined: there is no record. */
export function conversationNow({ pid }: OwnSession, env: Io['env']): string | undefined {
  const home = env.HOME || env.USERPROFILE
  const directory = env.CLAUDE_CONFIG_DIR || (home ? join(home, '.claude') : undefined)
  const sessionId = directory === undefined ? undefined : readRecord(directory, pid)?.sessionId
  return typeof sessionId === 'string' && sessionId !== '' ? sessionId.slice(0, 200) : undefined
}

export function isAlive({ pid }: Pick<OwnSession, 'pid'>): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * True when a user is at the terminal. False if that is not known: a program of ours that waits there would keep `claude -p` from its
 * first call of the model, and from its end.
 */
function isAttended({ CLAUDE_CODE_SESSION_ATTENDED: attended, CLAUDE_CODE_ENTRYPOINT: entry }: Io['env']): boolean {
  return attended === '1' || (attended === undefined && entry === 'cli')
}
