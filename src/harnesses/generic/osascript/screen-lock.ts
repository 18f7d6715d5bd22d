import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { processStart } from '../../../bridge/processes.ts'

/**
 * Locks the keyboard and the clipboard of a user for one act against other bridges. The lock of a dead process is taken over. Returns a
 * function that releases it; undefined: another process has it. Errors: of the file system.
 */
export function lockScreen(path: string): (() => void) | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const own = `${process.pid} ${processStart(process.pid)?.startedAt ?? ''} ${randomBytes(4).toString('hex')}`
  for (let tries = 0; tries < 2; tries++) {
    try {
      makeWhole(path, own)
      return () => {
        if (read(path) === own) rmSync(path, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = read(path)
    if (holder !== undefined && (isAlive(holder) || !isRemoved(path, holder))) return undefined
  }
  return undefined
}

/** Makes a file that is never seen half written. Errors: `EEXIST`. */
function makeWhole(path: string, text: string): void {
  const draft = `${path}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 })
    linkSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Removes the lock of a dead holder. False: another one has taken it meanwhile, and keeps it. */
function isRemoved(path: string, holder: string): boolean {
  const aside = `${path}.${randomBytes(4).toString('hex')}`
  try {
    renameSync(path, aside)
    if (read(aside) === holder) return true
    linkSync(aside, path)
    return false
  } catch {
    return false
  } finally {
    rmSync(aside, { force: true })
  }
}

function isAlive(holder: string): boolean {
  const [pid, startedAt] = holder.split(' ')
  const found = processStart(Number(pid))
  return found !== undefined && found.startedAt === startedAt
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
