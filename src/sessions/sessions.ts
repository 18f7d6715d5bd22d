import { Problem } from '../errors.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { type Conversation, isSameProcess, type Process, type Session } from '../registry/sessions/session.ts'
import {
  newestLiveSession,
  pageEndedSessions,
  pageLiveSessions,
  type SessionOwner,
  type SessionPage,
  type Sessions,
} from '../registry/sessions/session-lists.ts'
import {
  findSession,
  type PresenceReport,
  saveConversation,
  savePresence,
  seeSession,
} from '../registry/sessions/session-store.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { releaseLeft } from '../wakes/release-in-steps.ts'
import { isEdge } from '../wakes/rules/presence-edge.ts'
import { retryHeld } from '../wakes/store/retry-held.ts'
import { presenceOf, replacesReport } from '../words/presence.ts'
import { requireCapabilitiesSize } from './capabilities-size.ts'
import type { SessionContext } from './context.ts'
import { leaveSession } from './end.ts'
import { requireAgentCaller } from './start.ts'

/**
 * Records a sign of life of a session, with its presence if it is given: that of an MCP client only if no other source has reported
 * any. Returns the current session. Errors: `session-not-found`; `session-ended` with the reason and, after a preemption, the newer session,
 * so that the preempted process learns of it; `payload-too-large`.
 */
export async function beatSession(
  context: SessionContext,
  caller: Caller,
  id: string,
  {
    presence,
    harness,
  }: { readonly presence?: PresenceReport | undefined; readonly harness?: Conversation | undefined },
): Promise<Session> {
  requireAgentCaller(caller)
  requireCapabilitiesSize(presence?.capabilities, 'presence.capabilities')
  const { session, left } = await context.db.transaction(async (tx) => {
    const before = requireLive(await requireSession(tx, caller, id))
    await saveConversation(tx, id, harness)
    if (presence && replacesReport(presence.source, before)) await savePresence(tx, id, presence)
    else await seeSession(tx, id)
    const after = requireLive(await requireSession(tx, caller, id))
    return { session: after, left: await noteEdge(context, tx, before, after) }
  })
  await releaseLeft(context, left)
  return session
}

/** Ends a session for its agent or the operator. Ending an ended session changes nothing. */
export function closeSession(
  context: SessionContext,
  caller: Caller,
  id: string,
  reason: 'ended' | 'closed' = 'ended',
): Promise<Session> {
  return context.db.transaction(async (tx) => {
    const session = await requireSession(tx, caller, id)
    await leaveSession(context, tx, session, caller.identity, reason)
    return requireSession(tx, caller, id)
  })
}

/**
 * Records the presence of the caller's live session; with a process, only if the session belongs to it. Errors:
 * `session-not-found` without such a session, `payload-too-large`. Source: S1-8, D12.
 */
export async function reportPresence(
  context: SessionContext,
  caller: Caller,
  presence: PresenceReport,
  { owner, harness }: { readonly owner?: Process | undefined; readonly harness?: Conversation | undefined } = {},
): Promise<Session> {
  requireAgentCaller(caller)
  requireCapabilitiesSize(presence.capabilities, 'capabilities')
  const { reported, left } = await context.db.transaction(async (tx) => {
    const session = await newestLiveSession(tx, caller.id)
    if (session && owner && !isSameProcess(session, owner)) throw ofAnotherProcess(caller, session)
    if (session && (await savePresence(tx, session.id, presence))) {
      await saveConversation(tx, session.id, harness)
      const after = await requireSession(tx, caller, session.id)
      return { reported: after, left: await noteEdge(context, tx, session, after) }
    }
    throw new Problem('session-not-found', {
      detail: `${caller.identity} has no live session.`,
      remedy: 'start-session',
    })
  })
  await releaseLeft(context, left)
  return reported
}

/**
 * Has what presence held sent as one digest, where a report changes what holds. A report that repeats the last one costs no query. Returns
 * the subscriptions whose events are released after the transaction.
 * Source: S1-10…S1-13.
 */
async function noteEdge(
  { changed }: SessionContext,
  tx: Transaction,
  before: Session,
  after: Session,
): Promise<readonly string[]> {
  const presence = presenceOf(after, tx.now)
  if (!isEdge(presenceOf(before, tx.now), presence)) return []
  const { released, left } = await retryHeld(tx, after.agentId, presence)
  tx.onCommit(() => released.forEach(changed))
  return left
}

function ofAnotherProcess({ identity }: Caller, { id, surface }: Session): Problem {
  return new Problem('session-not-found', {
    detail: `The live session of ${identity} (${id}, ${surface}) is of another process than the report names.`,
    remedy: 'start-session-of-process',
  })
}

/** Returns a session of the caller's agent, or of the operator's project. Any other session is not found. Errors: `session-not-found`. */
export async function requireSession(db: Reader, caller: Caller, id: string): Promise<Session> {
  const session = await findSession(db, id)
  const visible = session?.projectId === caller.projectId
  if (session && visible && (caller.kind === 'operator' || session.agentId === caller.id)) return session
  throw new Problem('session-not-found', {
    detail: `There is no session ${id}, or it is not yours.`,
    remedy: 'list-sessions',
  })
}

/** Returns the session if it is live. Errors: `session-ended`, with its id, the reason and the newer session. */
export function requireLive(session: Session): Session {
  const { id, endedAt, endReason, successorId } = session
  if (endedAt === null) return session
  const detail = `Session ${id} has ended (${endReason}).`
  throw new Problem('session-ended', {
    ...(endReason === 'preempted'
      ? { detail: `${detail} Session ${successorId} of a newer process speaks for the agent, so this one must stop.` }
      : { detail, remedy: 'start-session-again' }),
    extra: {
      sessionId: id,
      reason: endReason,
      endedAt: new Date(endedAt).toISOString(),
      ...(successorId === null ? {} : { newMasterSession: successorId }),
    },
  })
}

/** Returns a page of the live sessions of the operator's project, newest first; an agent has one at most. */
export function listVisibleSessions(db: Reader, caller: Caller, page: SessionPage): Promise<Sessions> {
  return pageLiveSessions(db, ownerOf(caller), page)
}

/** Returns a page of ended sessions, newest first. */
export function listFormerSessions(db: Reader, caller: Caller, page: SessionPage): Promise<Sessions> {
  return pageEndedSessions(db, ownerOf(caller), page)
}

function ownerOf({ kind, id, projectId }: Caller): SessionOwner {
  return kind === 'operator' ? { projectId } : { agentId: id }
}
