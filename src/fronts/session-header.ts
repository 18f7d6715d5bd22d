import type { RequestHandler } from 'express'
import { requireLive, requireSession } from '../sessions/sessions.ts'
import type { Reader } from '../storage/database.ts'
import { callerOf } from './auth.ts'

/** For which session a call is made, where its caller says so. */
export const sessionHeader = 'Rouse-Session'

/**
 * Refuses a call that is made in the name of a session that has ended: a process whose identity went to a newer one learns of it
 * by whatever it does next, and takes no mail from it. Errors: `session-not-found`, `session-ended`. Source: D12.
 */
export function requireOwnSession(db: Reader): RequestHandler {
  return async (req, res, next) => {
    const id = req.get(sessionHeader)
    if (id !== undefined) requireLive(await requireSession(db, callerOf(res), id.trim()))
    next()
  }
}
