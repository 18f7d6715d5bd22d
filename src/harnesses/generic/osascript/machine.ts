import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Process, readProcesses } from '../tmux/processes.ts'
import { script } from './script.ts'

/** The parts of macOS that the adapter needs. */
export interface Machine {
  readonly platform: NodeJS.Platform
  processes(): ReadonlyMap<number, Process>
  /** The directories in which processes work, by their ids. What cannot be determined is left out. */
  directories(pids: readonly number[]): Promise<ReadonlyMap<number, string>>
  /** `/dev/ttys003`; undefined: it has none. */
  tty(pid: number): Promise<string | undefined>
  /** Runs the script with arguments. Never rejects. */
  osascript(argv: readonly string[], signal?: AbortSignal): Promise<Run>
}

/** How a run of the script has ended. `isOver`: by itself, with 0. */
export interface Run {
  readonly isOver: boolean
  readonly stdout: string
  readonly stderr: string
}

const callMsMax = 2_000
/** It waits 3 s for a window, and half a second for a paste. */
const scriptMsMax = 15_000
const outputMax = 1024 * 1024
const run = promisify(execFile)

/** This machine. `program`: the path of `osascript`; `scriptMs`: how long it may run. */
export function thisMac(program = '/usr/bin/osascript', scriptMs = scriptMsMax): Machine {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
  const call = async (name: string, argv: readonly string[]): Promise<string> => {
    const { stdout } = await run(name, argv, { env, timeout: callMsMax }).catch(() => ({ stdout: '' }))
    return stdout
  }
  return {
    platform: process.platform,
    processes: readProcesses,
    directories: async (pids) =>
      pids.length === 0 ? new Map() : directoriesOf(await call('lsof', ['-a', '-p', pids.join(), '-d', 'cwd', '-Fpn'])),
    tty: async (pid) => ttyOf(await call('ps', ['-o', 'tty=', '-p', String(pid)])),
    osascript: (argv, signal) => runScript(program, scriptMs, argv, signal),
  }
}

async function runScript(
  program: string,
  timeout: number,
  argv: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Run> {
  const options = {
    timeout,
    killSignal: 'SIGKILL',
    maxBuffer: outputMax,
    encoding: 'utf8',
    ...(signal ? { signal } : {}),
  } as const
  try {
    const said = await run(program, ['-l', 'JavaScript', '-e', script, ...argv], options)
    return { isOver: true, ...said }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { isOver: false, stdout, stderr }
  }
}

/** Reads the output of `lsof -d cwd -Fpn`: lines with the letter of a field first; `p` begins a process. Pure. */
export function directoriesOf(text: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>()
  let pid = 0
  for (const line of text.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1))
    if (line.startsWith('n/')) found.set(pid, line.slice(1))
  }
  return found
}

/** Reads the output of `ps -o tty=`. Pure. */
export function ttyOf(text: string): string | undefined {
  const name = text.trim()
  return /^ttys?\d+$/.test(name) ? `/dev/${name}` : undefined
}
