import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A process of this machine. */
export interface Process {
  readonly pid: number
  readonly parent: number
  /** True when the keys of its terminal go to it. */
  readonly isForeground: boolean
  /** ms since the epoch */
  readonly startedAt: number
  readonly argv: readonly string[]
}

/** The processes of this machine, by their ids. Empty where the system does not say. */
export function readProcesses(): ReadonlyMap<number, Process> {
  try {
    const all = process.platform === 'linux' ? fromProc() : fromPs()
    return new Map(all.map((one) => [one.pid, one]))
  } catch {
    return new Map()
  }
}

/** The directory in which a process works; undefined where the system does not say. */
export function cwdOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

/** The kernel counts the start of a process in hundredths of a second on every Linux that Node runs on. */
const tickMs = 10

function fromProc(): Process[] {
  const bootedAt = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))![1]) * 1_000
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // proc(5): the name is in parentheses and may hold any character. Then: state, ppid, pgrp, session, tty, tpgid, …, start.
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const argv = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').slice(0, -1)
        const startedAt = bootedAt + Number(fields[19]) * tickMs
        return [
          { pid: Number(name), parent: Number(fields[1]), isForeground: fields[2] === fields[5], startedAt, argv },
        ]
      } catch {
        // It has ended meanwhile.
        return []
      }
    })
}

const psLine = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/

function fromPs(): Process[] {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' }
  const columns = ['pid=', 'ppid=', 'pgid=', 'tpgid=', 'lstart=', 'command='].flatMap((column) => ['-o', column])
  const options = { env, timeout: 2_000, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 } as const
  return processesOfPs(execFileSync('ps', ['-A', ...columns], options))
}

/** Reads the output of `ps -A -o pid= -o ppid= -o pgid= -o tpgid= -o lstart= -o command=`, in UTC. Pure. */
export function processesOfPs(text: string): Process[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, foreground, started, command] = psLine.exec(line) ?? []
    if (pid === undefined) return []
    const startedAt = Date.parse(`${started} UTC`)
    const argv = command!.split(' ')
    return [{ pid: Number(pid), parent: Number(parent), isForeground: group === foreground, startedAt, argv }]
  })
}
