import type { ErrorRequestHandler } from 'express'
import { Problem } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { PendingSignal } from '../mailbox/delivery/pending-signal.ts'
import { type PreemptedSession, takeSessionMail } from '../mailbox/delivery/session-mail.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Database } from '../storage/database.ts'
import { returnUnread, takesMail } from './answer-mail.ts'
import { callerOf } from './auth.ts'

/**
 * Adds the signal that waits for a preempted session to the refusal of a call that names this session, as `pendingSignals`. As with
 * any answer, the key must be one that takes mail, and no header may decline it. Source: D26.
 */
export function addSessionMail(db: Database, log: Logger): ErrorRequestHandler {
  return async (error, req, res, next) => {
    if (!(error instanceof Problem) || error.code !== 'session-ended') return next(error)
    const session = preemptedSessionOf(error.extra)
    const caller = callerOf(res)
    if (!session || !takesMail(req, caller)) return next(error)
    const pendingSignals = await takeFor(db, log, caller, session)
    if (pendingSignals.length === 0) return next(error)
    const { status, message: detail, extra } = error
    returnUnread(db, log, res, { agentId: caller.id, signals: pendingSignals, status })
    next(new Problem('session-ended', { detail, extra: { ...extra, pendingSignals }, cause: error }))
  }
}

/** Returns the session that an answer or a refusal reports as preempted, if it does. */
export function preemptedSessionOf(fields: Readonly<Record<string, unknown>>): PreemptedSession | undefined {
  const { sessionId, reason, endedAt } = fields
  if (reason !== 'preempted' || typeof sessionId !== 'string' || typeof endedAt !== 'string') return undefined
  return { id: sessionId, endedAt: Date.parse(endedAt) }
}

/** Takes the mail to a session. If the store fails, there is none: the refusal itself names the newer session. */
async function takeFor(
  db: Database,
  log: Logger,
  { id, identity }: Caller,
  session: PreemptedSession,
): Promise<readonly PendingSignal[]> {
  try {
    return await takeSessionMail(db, id, session)
  } catch (error) {
    log.warn({ err: error, agent: identity }, 'mail.piggyback_failed')
    return []
  }
}
