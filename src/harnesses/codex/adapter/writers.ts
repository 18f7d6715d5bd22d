import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The threads of a home that a process has open, and which process. `pid` 0: the system does not show which one. */
export type Writers = ReadonlyMap<string, { readonly pid: number }>

const threadLock = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.lock$/i
const lsofMaxMs = 3_000

/**
 * Returns which threads of a home are open in some process; undefined: unknown. Codex holds a lock on a file for each open thread as long
 * as the process lives; files of closed threads may stay. This is not documented: a home without that directory shows nothing.
 */
export async function openThreads(home: string, platform = process.platform): Promise<Writers | undefined> {
  const directory = join(home, 'thread-writer-locks')
  try {
    const files = readdirSync(directory).flatMap((name) => {
      const thread = threadLock.exec(name)?.[1]
      return thread === undefined ? [] : [{ thread, path: join(directory, name) }]
    })
    if (platform === 'linux') return heldOnLinux(files)
    return platform === 'darwin' ? await heldByLsof(files) : undefined
  } catch {
    return undefined
  }
}

interface LockFile {
  readonly thread: string
  readonly path: string
}

/** proc(5), /proc/locks: `1: FLOCK ADVISORY WRITE 4711 08:01:1835 0 EOF`. The device is not compared: it differs on some file systems. */
function heldOnLinux(files: readonly LockFile[]): Writers {
  const pids = new Map<string, number>()
  for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
    const [, pid, inode] = /\b(?:FLOCK|POSIX|OFDLCK)\s+\S+\s+WRITE\s+(-?\d+)\s+\w+:\w+:(\d+)/.exec(line) ?? []
    if (inode !== undefined) pids.set(inode, Math.max(0, Number(pid)))
  }
  const held = files.flatMap(({ thread, path }) => {
    const pid = pids.get(String(statSync(path, { bigint: true }).ino))
    return pid === undefined ? [] : [[thread, { pid }] as const]
  })
  return new Map(held)
}

/** A process that has such a file open holds its lock. */
async function heldByLsof(files: readonly LockFile[]): Promise<Writers> {
  if (files.length === 0) return new Map()
  const paths = files.map(({ path }) => path)
  // It exits with 1 when one of the files is open nowhere.
  const { stdout } = await promisify(execFile)('lsof', ['-nP', '-Fpn', '--', ...paths], { timeout: lsofMaxMs }).catch(
    (error: { stdout?: string; code?: unknown }) => {
      if (error.code === 1) return { stdout: error.stdout ?? '' }
      throw error
    },
  )
  const held = new Map<string, { pid: number }>()
  let pid = 0
  for (const line of stdout.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1))
    const file = files.find(({ path }) => line === `n${path}`)
    if (file) held.set(file.thread, { pid })
  }
  return held
}
