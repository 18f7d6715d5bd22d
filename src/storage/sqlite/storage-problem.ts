import { Problem } from '../../errors.ts'

const outages = /^SQLITE_(FULL|IOERR|READONLY|BUSY|LOCKED|CANTOPEN|NOMEM)/

/** Translates an SQLite error caused by the machine (disk full, I/O) into `storage-unavailable`; returns any other error unchanged. */
export function storageProblem(error: unknown): unknown {
  if (!isSqliteError(error) || !outages.test(error.code)) return error
  return new Problem('storage-unavailable', {
    detail: `The store refused the write (${error.code}); nothing was written. Free space on the disk, and try again.`,
    cause: error,
  })
}

export function isSqliteError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && error.name === 'SqliteError' && 'code' in error
}
