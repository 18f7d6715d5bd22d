import { openSqlite } from './engine.ts'

/**
 * Takes a lock that one process holds while it lives: SQLite's lock of a file of its own. The system releases it however the process
 * ends, so there is never a stale lock. Returns what releases it; undefined when another process has it.
 */
export function lockFile(path: string): (() => void) | undefined {
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
