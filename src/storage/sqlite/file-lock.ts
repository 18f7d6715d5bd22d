import { closeSync, openSync } from 'node:fs'
import { openSqlite } from './engine.ts'

/**
 * Takes a lock that one process holds while it lives: SQLite's lock of a file of its own. The system releases it however the process
 * ends, so there is never a stale lock. Returns what releases it; undefined when another process has it.
 */
export function lockFile(path: string): (() => void) | undefined {
  makePrivate(path)
  const lock = openSqlite(path, { timeout: 0 })
  try {
    lock.pragma('journal_mode = DELETE')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (!/^SQLITE_(BUSY|LOCKED)/.test((error as { code?: string }).code ?? '')) throw error
    return undefined
  }
  return () => lock.close()
}

/**
 * Makes the file if there is none; SQLite gives its journal the same mode. A file that is there is not opened: to close it again would release the
 * locks that this process has on it.
 */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
}
