import { appendFileSync, chmodSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { systemClock } from '../../lib/clock.ts'

const bytesMax = 1024 * 1024

/** Where a bridge without a terminal says what it does, by the XDG Base Directory Specification. Errors: there is no home directory. */
export function bridgeLogPath({ XDG_STATE_HOME: state, HOME, USERPROFILE }: Io['env']): string {
  const home = HOME || USERPROFILE
  const base = state && isAbsolute(state) ? state : home ? join(home, '.local', 'state') : undefined
  if (base !== undefined) return join(base, 'rouse', 'bridge.log')
  throw new UsageError('There is no home directory for the log of the bridge: set HOME or XDG_STATE_HOME.')
}

/** Runs an act whose output goes to a log file. An error becomes the last line of the file. Errors: those of the act. */
export async function withLogFile(io: Io, path: string, act: (io: Io) => Promise<void>): Promise<void> {
  const log = openLogFile(path, () => systemClock.now())
  try {
    await act({ ...io, stdout: log, stderr: log })
  } catch (error) {
    log(`Ended: ${(error as Error).message}`)
    throw error
  }
}

/**
 * Returns what appends to a log file of this user, each line with its instant. At 1 MiB the file becomes `<path>.1`, so both together never have more than
 * twice that. A full disk loses lines, and stops nothing.
 */
function openLogFile(path: string, now: () => number): (text: string) => void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return (text) => {
    const at = new Date(now()).toISOString()
    const lines = text.split('\n').filter((line) => line !== '')
    try {
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > bytesMax) renameSync(path, `${path}.1`)
      appendFileSync(path, lines.map((line) => `${at} ${line}\n`).join(''), { mode: 0o600 })
      chmodSync(path, 0o600)
    } catch {
      // There is nowhere to say it.
    }
  }
}
