import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { type ProcessStart, processStart } from '../../../bridge/processes.ts'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { isOneLine } from '../../../lib/words.ts'
import type { PresenceState } from '../../../words/presence.ts'

/** A session of Claude Code that runs on this machine, as its registry tells it. */
export interface ClaudeSession {
  readonly pid: number
  /** Of the process; ISO 8601. */
  readonly startedAt: string
  /** It changes under the process with `/clear` and `/resume`. */
  readonly sessionId: string
  readonly cwd: string
  readonly state: PresenceState
  /** `permission prompt` */
  readonly waitingFor?: string
  readonly version?: string
  /** The configuration directory whose registry has it. */
  readonly configDirectory: string
  readonly inboxPath?: string
  readonly inboxProtocol?: number
}

const recordBytesMax = 65_536
/** More than a machine runs. A session that was killed leaves its record. */
const recordsMax = 1_000

const states: Readonly<Record<string, PresenceState>> = {
  idle: 'idle',
  // Idle, with a monitor or a shell of its own in the background.
  shell: 'idle',
  busy: 'active',
  waiting: 'waitingOnApproval',
}

/** The sessions of a configuration directory whose processes run; none without a registry. */
export function readSessions(configDirectory: string): ClaudeSession[] {
  return recordNames(configDirectory)
    .map((name) => readSession(configDirectory, Number(name.slice(0, -'.json'.length))))
    .filter((session) => session !== undefined)
}

/** The session of a process, read again; undefined: it has ended, or has no record that can be read. */
export function readSession(configDirectory: string, pid: number): ClaudeSession | undefined {
  const record = readRecord(configDirectory, pid)
  const start = record && processStart(pid)
  const session = record && start && sessionOf(record, pid, start, configDirectory)
  return session && { ...session, cwd: resolved(session.cwd) }
}

/**
 * Reads the record of a running process. undefined: it is from an earlier process with the same id, from a process without a terminal,
 * or not a valid record. Pure.
 */
export function sessionOf(
  record: JsonObject,
  pid: number,
  { start, startedAt }: ProcessStart,
  configDirectory: string,
): ClaudeSession | undefined {
  const { sessionId, cwd, status, waitingFor, version, kind, entrypoint, procStart } = record
  if (record.pid !== pid || kind !== 'interactive' || String(entrypoint).startsWith('sdk')) return undefined
  if (typeof procStart !== 'string' || procStart.replace(/\s+/g, ' ') !== start) return undefined
  if (typeof sessionId !== 'string' || !/^[\w.-]{1,200}$/.test(sessionId)) return undefined
  if (typeof cwd !== 'string' || !isAbsolute(cwd) || cwd.length > 1_000 || !isOneLine(cwd)) return undefined
  const { messagingSocketPath: inboxPath, peerProtocol } = record
  return {
    pid,
    startedAt,
    sessionId,
    cwd,
    configDirectory,
    state: (typeof status === 'string' && Object.hasOwn(states, status) && states[status]) || 'unknown',
    ...(typeof waitingFor === 'string' ? { waitingFor: waitingFor.slice(0, 100) } : {}),
    ...(typeof version === 'string' ? { version: version.slice(0, 40) } : {}),
    ...(typeof inboxPath === 'string' && isAbsolute(inboxPath) ? { inboxPath } : {}),
    ...(typeof peerProtocol === 'number' ? { inboxProtocol: peerProtocol } : {}),
  }
}

function recordNames(configDirectory: string): string[] {
  try {
    const names = readdirSync(join(configDirectory, 'sessions'))
    return names.filter((name) => /^[1-9]\d{0,9}\.json$/.test(name)).slice(-recordsMax)
  } catch {
    return []
  }
}

/** Returns the record of a process unchecked; undefined: there is none, or it cannot be read. */
export function readRecord(configDirectory: string, pid: number): JsonObject | undefined {
  const path = join(configDirectory, 'sessions', `${pid}.json`)
  try {
    if (statSync(path).size > recordBytesMax) return undefined
    const record: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isJsonObject(record) ? record : undefined
  } catch {
    // It is being written, or has just gone.
    return undefined
  }
}

function resolved(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
