import { isAbsolute, join } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'

/** Where the journal is, by the XDG Base Directory Specification. Errors: there is no home directory. */
export function journalPath({ XDG_STATE_HOME: state, HOME, USERPROFILE }: Io['env']): string {
  const home = HOME || USERPROFILE
  // The specification: a relative path is ignored.
  const base = state && isAbsolute(state) ? state : home ? join(home, '.local', 'state') : undefined
  if (base !== undefined) return join(base, 'rouse', 'bridge.db')
  throw new UsageError('There is no home directory for the journal of the bridge: set HOME or XDG_STATE_HOME.')
}
