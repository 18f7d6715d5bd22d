import { Problem } from '../../errors.ts'

export const lockedRemedy =
  'Another program holds a lock on it: end that program, such as a sqlite3 shell with an open transaction.'

/** The errors of the machine and not of a statement, with what to do about each. */
const remedies: readonly (readonly [code: RegExp, remedy: string])[] = [
  [/^SQLITE_(BUSY|LOCKED)/, lockedRemedy],
  [/^SQLITE_FULL/, 'Free space on the disk.'],
  [/^SQLITE_(READONLY|CANTOPEN|PERM)/, 'Make its file and its directory writable for the user of the gateway.'],
  [/^SQLITE_(IOERR|PROTOCOL|NOMEM)/, 'Free space on the disk, or check it.'],
]

/** Translates an SQLite error caused by the machine (disk full, I/O) into `storage-unavailable`; returns any other error unchanged. A read says nothing of what was written. */
export function storageProblem(error: unknown, outcome = '; nothing was written'): unknown {
  if (!isSqliteError(error)) return error
  const [, remedy] = remedies.find(([code]) => code.test(error.code)) ?? []
  if (remedy === undefined) return error
  return new Problem('storage-unavailable', {
    detail: `The store is not available (${error.code})${outcome}. ${remedy} Then try again.`,
    cause: error,
  })
}

export function isSqliteError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && error.name === 'SqliteError' && 'code' in error
}
