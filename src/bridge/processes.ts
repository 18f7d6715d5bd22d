import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A process that runs now. */
interface RunningProcess {
  readonly parent: number
  /** The process group that it is in. */
  readonly group: number
  readonly name: string
  /** ms since the epoch */
  readonly startedAt: number
  /** The start in the system's own words: in ticks since the machine's on Linux, a date in UTC elsewhere. */
  readonly start: string
}

/** When a process started that runs now. */
export interface ProcessStart {
  /** ISO 8601 */
  readonly startedAt: string
  /** In the system's own words, as some harnesses note it. */
  readonly start: string
}

/** The kernel counts the start of a process in hundredths of a second on every Linux that Node runs on. */
const tickMs = 10

/** When a process started; undefined: none of that id runs, or the system does not report it. */
export function processStart(pid: number): ProcessStart | undefined {
  const found = lookUp(pid)
  return found && { startedAt: new Date(found.startedAt).toISOString(), start: found.start }
}

/** True: no process of that id and start runs here. False also where the system does not report it. `start`: in its own words. */
export function isGone({ pid, start }: { readonly pid: number; readonly start: string }): boolean {
  const found = lookUp(pid)
  if (found) return found.start !== start
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** A process as the system reports it; undefined: none of that id runs, or the system does not report it. */
export function lookUp(pid: number): RunningProcess | undefined {
  try {
    return process.platform === 'linux' ? fromProc(pid) : process.platform === 'win32' ? undefined : fromPs(pid)
  } catch {
    return undefined
  }
}

/** proc(5): the name is in parentheses and may hold any character; the start is field 22, since the start of the machine. */
function fromProc(pid: number): RunningProcess | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const end = stat.lastIndexOf(')')
  const fields = stat.slice(end + 2).split(' ')
  const bootedAt = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1]
  if (bootedAt === undefined) return undefined
  const startedAt = Number(bootedAt) * 1000 + Number(fields[19]) * tickMs
  const name = stat.slice(stat.indexOf('(') + 1, end)
  return { parent: Number(fields[1]), group: Number(fields[2]), name, startedAt, start: fields[19]! }
}

function fromPs(pid: number): RunningProcess | undefined {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' }
  const options = { env, timeout: 500, encoding: 'utf8' } as const
  const line = execFileSync('ps', ['-o', 'ppid=,pgid=,lstart=,comm=', '-p', String(pid)], options).trim()
  const [, parent, group, started, path] = /^(\d+)\s+(\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/.exec(line) ?? []
  if (parent === undefined || started === undefined) return undefined
  return {
    parent: Number(parent),
    group: Number(group),
    name: path!.split('/').at(-1)!,
    startedAt: Date.parse(`${started} UTC`),
    start: started.replace(/\s+/g, ' '),
  }
}
