import type { Request, RequestHandler } from 'express'
import { requireLive, requireSession } from '../sessions/sessions.ts'
import type { Reader } from '../storage/database.ts'
import { callerOf } from './auth.ts'

/** The header that names the session of a call. */
const sessionHeader = 'Rouse-Session'

/** Returns the session that a request names. */
export function sessionOf(req: Request): string | undefined {
  return req.get(sessionHeader)?.trim()
}

/**
 * Refuses a call that names a session that has ended. So a preempted process learns of it with its next call, and gets no mail of
 * the newer one. Errors: `session-not-found`, `session-ended`. Source: D12.
 */
export function requireOwnSession(db: Reader): RequestHandler {
  return async (req, res, next) => {
    const id = sessionOf(req)
    if (id !== undefined) requireLive(await requireSession(db, callerOf(res), id))
    next()
  }
}
