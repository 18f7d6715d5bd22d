import type { Caller } from '../../registry/callers/caller.ts'
import { requireLive, requireSession } from '../../sessions/sessions.ts'
import type { Reader } from '../../storage/database.ts'

/** The header that names the session of a call. */
const sessionHeader = 'Rouse-Session'

/** Returns the session that a call names. */
export function sessionOf(header: (name: string) => string | undefined): string | undefined {
  return header(sessionHeader)?.trim()
}

/**
 * Refuses a call that names a session that has ended. So a preempted process learns of it with its next call, and gets no mail of
 * the newer one. Errors: `session-not-found`, `session-ended`. Source: D12.
 */
export async function requireOwnSession(
  db: Reader,
  caller: Caller,
  header: (name: string) => string | undefined,
): Promise<void> {
  const id = sessionOf(header)
  if (id !== undefined) requireLive(await requireSession(db, caller, id))
}
