import { Problem } from '../errors.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Session } from '../registry/sessions/session.ts'
import {
  findSession,
  listEndedSessions,
  listLiveSessions,
  newestLiveSession,
  type PresenceReport,
  savePresence,
  seeSession,
} from '../registry/sessions/session-store.ts'
import type { Reader } from '../storage/database.ts'
import type { SessionContext } from './context.ts'
import { leaveSession } from './end.ts'
import { requireAgentCaller } from './start.ts'

/**
 * A sign of life of a session, with what it does if it says so. Answers the session as it is now. Errors: `session-not-found`,
 * `session-ended` with the reason, and with the session that took over: that is how one that was preempted learns of it.
 */
export function beatSession(
  { db }: SessionContext,
  caller: Caller,
  id: string,
  presence: PresenceReport | undefined,
): Promise<Session> {
  requireAgentCaller(caller)
  return db.transaction(async (tx) => {
    requireLive(await requireSession(tx, caller, id))
    if (presence) await savePresence(tx, id, presence)
    else await seeSession(tx, id)
    return requireLive(await requireSession(tx, caller, id))
  })
}

/** Ends a session: the agent's own word, or the operator's. Ending one that has ended changes nothing. */
export function closeSession(context: SessionContext, caller: Caller, id: string): Promise<Session> {
  return context.db.transaction(async (tx) => {
    const session = await requireSession(tx, caller, id)
    await leaveSession(context, tx, session, caller.identity)
    return requireSession(tx, caller, id)
  })
}

/** What the harness of the caller's live session does now. Errors: `session-not-found` when none lives. Source: S1-8. */
export function reportPresence({ db }: SessionContext, caller: Caller, presence: PresenceReport): Promise<Session> {
  requireAgentCaller(caller)
  return db.transaction(async (tx) => {
    const session = await newestLiveSession(tx, caller.id)
    if (session && (await savePresence(tx, session.id, presence))) return requireSession(tx, caller, session.id)
    throw new Problem('session-not-found', {
      detail: `${caller.identity} has no live session. Start one: POST /v1/sessions {"surface": "…"}.`,
    })
  })
}

/** A session of the caller's agent, or of the operator's project. Another's is as absent as one that does not exist. */
export async function requireSession(db: Reader, caller: Caller, id: string): Promise<Session> {
  const session = await findSession(db, id)
  const visible = session?.projectId === caller.projectId
  if (session && visible && (caller.kind === 'operator' || session.agentId === caller.id)) return session
  throw new Problem('session-not-found', {
    detail: `There is no session ${id}, or it is not yours. GET /v1/sessions lists your sessions.`,
  })
}

/** Errors: `session-ended`, which says why and by whom. */
export function requireLive(session: Session): Session {
  const { id, endedAt, endReason, successorId } = session
  if (endedAt === null) return session
  const remedy =
    endReason === 'preempted'
      ? `Session ${successorId} of a newer process speaks for the agent: stop this process.`
      : 'Start it again: POST /v1/sessions.'
  throw new Problem('session-ended', {
    detail: `Session ${id} has ended (${endReason}). ${remedy}`,
    extra: {
      reason: endReason,
      endedAt: new Date(endedAt).toISOString(),
      ...(successorId === null ? {} : { newMasterSession: successorId }),
    },
  })
}

/** The live session of an agent, or the live ones of the operator's project, newest first. */
export async function listVisibleSessions(db: Reader, caller: Caller): Promise<Session[]> {
  if (caller.kind === 'operator') return listLiveSessions(db, caller.projectId)
  const own = await newestLiveSession(db, caller.id)
  return own ? [own] : []
}

/** Sessions that have ended, newest first, behind the one that the page before ended with. */
export function listFormerSessions(
  db: Reader,
  caller: Caller,
  page: { before: string; limit: number },
): Promise<Session[]> {
  const of = caller.kind === 'operator' ? { projectId: caller.projectId } : { agentId: caller.id }
  return listEndedSessions(db, of, page)
}
