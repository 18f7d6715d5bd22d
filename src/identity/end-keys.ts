import { deleteMcpSessionsOfKey } from '../mcp-sessions/mcp-session-store.ts'
import { removeDevicesOfKey } from '../push/push-store.ts'
import { findAgentById } from '../registry/agents/agent-store.ts'
import { identityOf } from '../registry/agents/identity.ts'
import { listGrantsOfKey } from '../registry/permissions/permission-store.ts'
import type { KeyEnd, Session } from '../registry/sessions/session.ts'
import { listSessionsOfKey } from '../registry/sessions/session-lists.ts'
import { listMcpSubscriptionsOfKey } from '../registry/subscriptions/mcp-store.ts'
import { deleteSubscriptions, endSubscriptions } from '../registry/subscriptions/subscription-store.ts'
import { announceLeft, endSessionOfKey } from '../sessions/end.ts'
import type { Transaction } from '../storage/database.ts'
import { inPieces } from '../storage/in-pieces.ts'
import { pausePushesOfKey, pauseSubscriptionsOfKey } from '../wakes/store/subscription-state.ts'
import type { IdentityContext } from './context.ts'
import { endGrant } from './end-grant.ts'
import { EventsByProject } from './events-by-project.ts'
import { listPushesOfKey, moveToKey } from './key-end-store.ts'
import { endedEvent, pausedEvent } from './paused-event.ts'

/** Why keys end, and who ended them. */
interface Ending {
  readonly reason: KeyEnd
  /** An identity. */
  readonly actor: string
  /** The key that the resources of the ended keys move to; absent: they end with the keys. */
  readonly heir?: string | undefined
  /** The keys had ended before, and the log has the events about it. */
  readonly isAgain?: boolean
}

/** A key that has ended. Without an agent it is an operator's key, or a token. */
export interface EndedKey {
  readonly keyId: string
  readonly agentId?: string
}

/**
 * Ends the resources of keys that have just ended. In the transaction that ended the keys: sessions, wake subscriptions (paused
 * with the reason; those of clients of MCP are removed), push configs, and, of keys that were revoked, the permissions that they granted: a key that expires was not
 * stolen. After the commit: open streams and calls, on every gateway. So nothing that was made with a leaked key continues after it.
 * Of many push configs the first hundred are deleted, and the others send nothing more: `true` says that
 * there may be others. Calls for the same keys, each in a transaction of its own, delete those; else they go when their
 * agent needs room.
 */
export async function endKeys(
  context: IdentityContext,
  tx: Transaction,
  keys: readonly EndedKey[],
  ending: Ending,
): Promise<boolean> {
  const events = new EventsByProject()
  const left: { session: Session; identity: string }[] = []
  let more = false
  for (const key of keys) {
    if (ending.heir === undefined) {
      left.push(...(await endWhatHangs(context, tx, key.keyId, ending, events)))
      if (await endPushes(context, tx, key.keyId, ending, events)) more = true
    } else await moveToKey(tx, key.keyId, ending.heir)
    if (!ending.isAgain) await appendEnd(tx, key, ending, events)
  }
  await events.append(context, tx)
  for (const { session, identity } of left) {
    await announceLeft(context.sessions, tx, session, identity, ending.reason)
  }
  tx.onCommit(() => context.revoked(keys.map(({ keyId }) => keyId)))
  return more
}

/** How many grants end before the event loop turns: 100 µs each. A key may have granted a thousand. */
const grantsAtOnce = 16

async function endWhatHangs(
  context: IdentityContext,
  tx: Transaction,
  keyId: string,
  { reason, actor }: Ending,
  events: EventsByProject,
): Promise<{ session: Session; identity: string }[]> {
  const { changed } = context.sessions
  const mcpSessions = await deleteMcpSessionsOfKey(tx, keyId)
  await removeDevicesOfKey(tx, keyId)
  const ended = await listMcpSubscriptionsOfKey(tx, keyId)
  await endSubscriptions(tx, ended, reason)
  for (const { id, projectId, agentId } of ended) events.add(projectId, endedEvent(id, agentId, actor, reason))
  const paused = await pauseSubscriptionsOfKey(tx, keyId, reason)
  for (const { id, projectId, agentId } of paused) events.add(projectId, pausedEvent(id, agentId, actor, reason))
  const left: { session: Session; identity: string }[] = []
  for (const session of await listSessionsOfKey(tx, keyId)) {
    const identity = await identityOf(tx, session.agentId)
    const ended = await endSessionOfKey(context.sessions, tx, session, identity, reason)
    if (!ended) continue
    for (const event of ended) events.add(session.projectId, event)
    left.push({ session, identity })
  }
  const grants = reason === 'key-revoked' ? await listGrantsOfKey(tx, keyId) : []
  const ending = await inPieces(grants, grantsAtOnce, async (piece) => {
    for (const grant of piece) await endGrant(context, tx, grant, { actor }, events)
  })
  await ending.answered
  tx.onCommit(() => [...mcpSessions, ...[...ended, ...paused].map(({ id }) => id)].forEach((id) => void changed(id)))
  return left
}

/** How many push configs one transaction deletes: their deliveries go with them. */
const pushesMax = 100

/** Returns whether there may be more. */
async function endPushes(
  { sessions: { changed } }: IdentityContext,
  tx: Transaction,
  keyId: string,
  { reason, actor }: Ending,
  events: EventsByProject,
): Promise<boolean> {
  const pushes = await listPushesOfKey(tx, keyId, pushesMax)
  const ids = pushes.map(({ id }) => id)
  await deleteSubscriptions(tx, ids)
  for (const { projectId, taskId, configId } of pushes) {
    const data = { taskId, configId, reason }
    events.add(projectId, { type: 'push_config.deleted', actor, audience: [], taskId, data })
  }
  const more = pushes.length === pushesMax
  const paused = more ? await pausePushesOfKey(tx, keyId, reason) : []
  tx.onCommit(() => [...ids, ...paused].forEach((id) => void changed(id)))
  return more
}

/** The event that an agent's key has ended, for the log of the agent's project. */
async function appendEnd(
  tx: Transaction,
  { keyId, agentId }: EndedKey,
  { reason, actor }: Ending,
  events: EventsByProject,
): Promise<void> {
  const agent = agentId === undefined ? undefined : await findAgentById(tx, agentId)
  if (!agent) return
  const data = { agent: agent.handle, keyId, reason }
  events.add(agent.projectId, { type: 'key.revoked', actor, audience: [agent.id], data })
}
