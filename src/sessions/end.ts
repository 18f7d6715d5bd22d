import type { NewEvent } from '../log/event.ts'
import { gatewayIdentity, identityOf } from '../registry/agents/identity.ts'
import type { EndReason, Session } from '../registry/sessions/session.ts'
import { endSession, endSilentSession } from '../registry/sessions/session-store.ts'
import type { Transaction } from '../storage/database.ts'
import { pauseSubscriptionsOfSession } from '../wakes/store/subscription-state.ts'
import type { SessionContext } from './context.ts'

/** Ends a session for `actor`. False: it had ended already, and no second event is appended. */
export async function leaveSession(
  context: SessionContext,
  tx: Transaction,
  session: Session,
  actor: string,
  reason: 'ended' | 'closed' = 'ended',
): Promise<boolean> {
  if (!(await endSession(tx, session.id, reason))) return false
  await announceEnd(context, tx, session, reason, actor)
  return true
}

/**
 * Ends a session that gave no sign of life since an instant. False: it gave one meanwhile, or another gateway has ended it: only
 * one gateway appends the events.
 */
export async function dropSilentSession(
  context: SessionContext,
  tx: Transaction,
  session: Session,
  before: number,
): Promise<boolean> {
  if (!(await endSilentSession(tx, session.id, before))) return false
  await announceEnd(context, tx, session, 'timeout', gatewayIdentity)
  return true
}

/** Preempts an older session. Returns the events to append; undefined if it had ended already. */
export async function preemptSession(
  context: Pick<SessionContext, 'changed' | 'log'>,
  tx: Transaction,
  session: Session,
  identity: string,
  successorId: string,
): Promise<readonly NewEvent[] | undefined> {
  if (!(await endSession(tx, session.id, 'preempted', successorId))) return undefined
  logEnd(context, tx, session, { agent: identity, reason: 'preempted', successorId })
  return [
    ...(await pauseSubscriptions(context, tx, session, 'preempted')),
    sessionEvent('master.preempted', gatewayIdentity, session, { identity, newMasterSession: successorId }),
  ]
}

/** Ends a session whose key has ended. Returns the events to append; undefined if it had ended already. */
export async function endSessionOfKey(
  context: Pick<SessionContext, 'changed' | 'log'>,
  tx: Transaction,
  session: Session,
  identity: string,
  reason: EndReason,
): Promise<readonly NewEvent[] | undefined> {
  if (!(await endSession(tx, session.id, reason))) return undefined
  const left = sessionEvent('peer.left', gatewayIdentity, session, { identity, reason })
  logEnd(context, tx, session, { agent: identity, reason })
  return [...(await pauseSubscriptions(context, tx, session, reason)), left]
}

/** An event about a session. It concerns the agent of the session. */
export function sessionEvent(
  type: 'peer.joined' | 'peer.left' | 'master.preempted',
  actor: string,
  session: Pick<Session, 'id' | 'agentId' | 'surface'>,
  data: { identity: string; [name: string]: string },
): NewEvent {
  const { id, agentId, surface } = session
  return { type, actor, audience: [agentId], data: { ...data, surface, sessionId: id } }
}

async function announceEnd(
  context: SessionContext,
  tx: Transaction,
  session: Session,
  reason: EndReason,
  actor: string,
): Promise<void> {
  const identity = await identityOf(tx, session.agentId)
  const paused = await pauseSubscriptions(context, tx, session, reason)
  const left = sessionEvent('peer.left', actor, session, { identity, reason })
  logEnd(context, tx, session, { agent: identity, reason })
  await context.append(tx, session.projectId, [...paused, left])
  await announceLeft(context, tx, session, identity, reason)
}

/** One line for each session that ends, `preempted` included. */
function logEnd(
  { log }: Pick<SessionContext, 'log'>,
  tx: Transaction,
  { id: sessionId, projectId: project, surface }: Session,
  about: { readonly agent: string; readonly reason: EndReason; readonly successorId?: string },
): void {
  const isPreempted = about.reason === 'preempted'
  const line = { sessionId, project, surface, ...about }
  tx.onCommit(() => log.info(line, isPreempted ? 'session.preempted' : 'session.ended'))
}

/** Announces to the other agents of the project that a session has ended. Called last in its transaction. */
export async function announceLeft(
  context: Pick<SessionContext, 'announce'>,
  tx: Transaction,
  { agentId, projectId, surface }: Session,
  identity: string,
  reason: EndReason,
): Promise<void> {
  await context.announce(tx, {
    projectId,
    signalType: 'PeerLeft',
    payload: { identity, surface, reason },
    toAgentId: 'project',
    exceptAgentId: agentId,
  })
}

/** Pauses the subscriptions of a session: their events wait until the subscription is resumed. */
async function pauseSubscriptions(
  { changed }: Pick<SessionContext, 'changed'>,
  tx: Transaction,
  { id, agentId }: Session,
  endReason: EndReason,
): Promise<readonly NewEvent[]> {
  const reason = `session ${endReason}`
  const paused = await pauseSubscriptionsOfSession(tx, id, reason)
  tx.onCommit(() => paused.forEach(changed))
  return paused.map((subscriptionId) => ({
    type: 'subscription.updated',
    actor: gatewayIdentity,
    audience: [agentId],
    data: { subscriptionId, status: 'paused', reason },
  }))
}
