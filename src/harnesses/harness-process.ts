import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The process of the harness: what makes its session its own. `startedAt`: ISO 8601; absent where the system does not say. */
export interface HarnessProcess {
  readonly pid: number
  readonly startedAt?: string
}

interface Found {
  readonly parent: number
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

/** Programs that stand between a harness and what it starts. */
const between = /^(-?(ba|da|z|fi|k|a)?sh|env|nice|timeout|(npm|npx|pnpm|yarn|bunx).*)$/
const depthMax = 8
/** The kernel counts the start of a process in hundredths of a second on every Linux that Node runs on. */
const tickMs = 10

/**
 * The harness that started this process: the ancestor that its environment names (`named`, the values of such variables), else the first that
 * is no shell. A harness that was started within another one inherits names of that one, so the nearest counts. Source: D12.
 */
export function harnessProcess(named: readonly string[], parent: number): HarnessProcess {
  let pid = parent
  let found = lookUp(pid)
  for (let depth = 0; found && between.test(found.name) && !named.includes(String(pid)) && depth < depthMax; depth++) {
    const above = found.parent > 1 ? lookUp(found.parent) : undefined
    if (!above) break
    pid = found.parent
    found = above
  }
  return { pid, ...(found ? { startedAt: new Date(found.startedAt).toISOString() } : {}) }
}

/** When a process started; undefined: none of that id runs, or the system does not say. */
export function processStart(pid: number): ProcessStart | undefined {
  const found = lookUp(pid)
  return found && { startedAt: new Date(found.startedAt).toISOString(), start: found.start }
}

function lookUp(pid: number): Found | undefined {
  try {
    return process.platform === 'linux' ? fromProc(pid) : process.platform === 'win32' ? undefined : fromPs(pid)
  } catch {
    return undefined
  }
}

/** proc(5): the name is in parentheses and may hold any character; the start is field 22, since the start of the machine. */
function fromProc(pid: number): Found | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const end = stat.lastIndexOf(')')
  const fields = stat.slice(end + 2).split(' ')
  const bootedAt = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1]
  if (bootedAt === undefined) return undefined
  const startedAt = Number(bootedAt) * 1000 + Number(fields[19]) * tickMs
  return { parent: Number(fields[1]), name: stat.slice(stat.indexOf('(') + 1, end), startedAt, start: fields[19]! }
}

function fromPs(pid: number): Found | undefined {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' }
  const options = { env, timeout: 500, encoding: 'utf8' } as const
  const line = execFileSync('ps', ['-o', 'ppid=,lstart=,comm=', '-p', String(pid)], options).trim()
  const [, parent, started, path] = /^(\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/.exec(line) ?? []
  if (parent === undefined || started === undefined) return undefined
  return {
    parent: Number(parent),
    name: path!.split('/').at(-1)!,
    startedAt: Date.parse(`${started} UTC`),
    start: started.replace(/\s+/g, ' '),
  }
}
