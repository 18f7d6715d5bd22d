import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { processStart } from '../../../bridge/processes.ts'
import type { Io } from '../../../client/io.ts'
import { isJsonObject } from '../../../lib/json.ts'

/** The record that a running Qwen Code keeps of one of its sessions. Source: its cross-session protocol, §1. */
export interface SessionRecord {
  readonly pid: number
  readonly sessionId: string
  readonly cwd: string
  readonly name: string
  /** ms since the epoch */
  readonly startedAt: number
  /** Absent: it takes no messages. */
  readonly ipcPath?: string
  readonly version?: string
}

/** The facts that tell the processes of a machine apart; absent where the system does not say. */
interface ThisMachine {
  readonly bootId?: string
  readonly pidNamespace?: number
  /** In ticks since the start of the machine; undefined: no such process. */
  startOf(pid: number): string | undefined
  isAlive(pid: number): boolean
}

const schemaVersion = 1
const recordBytesMax = 65_536
const recordsMax = 1_000
/** `<pid>.json`, or one of several sessions of a process. */
const fileName = /^(\d+)(?:-[0-9a-f]{8})?\.json$/

/** The directory of the user's Qwen Code. */
export function qwenHome(env: Io['env'], setting?: string): string {
  return setting || env.QWEN_HOME || join(env.HOME || homedir(), '.qwen')
}

/** The sessions that live on this machine, the newest first. What cannot be read is none. */
export function liveRecords(home: string, machine: ThisMachine = thisMachine()): SessionRecord[] {
  const directory = join(home, 'sessions')
  if (!existsSync(directory)) return []
  const records = readdirSync(directory)
    .slice(0, recordsMax)
    .flatMap((name) => {
      const pid = Number(fileName.exec(name)?.[1])
      const record = Number.isInteger(pid) ? recordIn(join(directory, name)) : undefined
      return record && isLive(record, pid, machine) ? [viewOf(record)] : []
    })
  return records.sort((a, b) => b.startedAt - a.startedAt)
}

/** True when a record is that of a process of this machine that still runs: pids are used again, and home directories are shared. */
function isLive(record: Record<string, unknown>, pid: number, machine: ThisMachine): boolean {
  const { schemaVersion: version, procStart, pidNs } = record
  if (record.pid !== pid || typeof version !== 'number' || version > schemaVersion || !machine.isAlive(pid))
    return false
  if (machine.pidNamespace !== undefined && pidNs !== machine.pidNamespace) return false
  if (typeof procStart !== 'string') return true
  const [bootId, ticks] = procStart.split(':')
  return bootId === machine.bootId && ticks === machine.startOf(pid)
}

function viewOf(record: Record<string, unknown>): SessionRecord {
  const { pid, sessionId, cwd, name, startedAt, ipcPath, qwenVersion } = record
  return {
    pid: pid as number,
    sessionId: sessionId as string,
    cwd: cwd as string,
    name: name as string,
    startedAt: startedAt as number,
    // Written by another process: only an address on this machine is dialled.
    ...(typeof ipcPath === 'string' && isAbsolute(ipcPath) ? { ipcPath } : {}),
    ...(typeof qwenVersion === 'string' ? { version: qwenVersion } : {}),
  }
}

function recordIn(path: string): Record<string, unknown> | undefined {
  try {
    const stats = statSync(path)
    if (!stats.isFile() || stats.size > recordBytesMax) return undefined
    const record: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isJsonObject(record)) return undefined
    const { sessionId, cwd, name, startedAt, kind } = record
    // Other programs than Qwen Code say that they are `external`.
    if (kind === 'external') return undefined
    const isWhole = [sessionId, cwd, name].every((one) => typeof one === 'string') && Number.isFinite(startedAt)
    return isWhole ? record : undefined
  } catch {
    // It was removed, or is being written.
    return undefined
  }
}

function thisMachine(): ThisMachine {
  const bootId = read('/proc/sys/kernel/random/boot_id')?.trim()
  const namespace = /^pid:\[(\d+)\]$/.exec(linkOf('/proc/self/ns/pid') ?? '')?.[1]
  return {
    ...(bootId === undefined ? {} : { bootId }),
    ...(namespace === undefined ? {} : { pidNamespace: Number(namespace) }),
    startOf: (pid) => processStart(pid)?.start,
    isAlive(pid) {
      try {
        process.kill(pid, 0)
        return true
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === 'EPERM'
      }
    },
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
