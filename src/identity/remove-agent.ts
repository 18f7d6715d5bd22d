import type { NewEvent } from '../log/event.ts'
import type { Agent } from '../registry/agents/agent.ts'
import { deleteAgent, findAgent, freeNames, lockAgent } from '../registry/agents/agent-store.ts'
import { nameOf, type RegistryContext, requireAgent } from '../registry/agents/agents.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import { deleteApiKeys, listApiKeys } from '../registry/callers/api-key-store.ts'
import { type Caller, requireOperator } from '../registry/callers/caller.ts'
import { deletePermissionsOf } from '../registry/permissions/permission-store.ts'
import type { Session } from '../registry/sessions/session.ts'
import { deleteSessionsOf, newestLiveSession } from '../registry/sessions/session-store.ts'
import { grantRevoked } from '../registry/subscriptions/status.ts'
import { deleteSubscriptionsOf } from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import { pauseSubscriptionsManagedBy } from '../wakes/store/subscription-state.ts'
import { pausedEvent } from './end-keys.ts'
import { listManagedOwners } from './key-end-store.ts'

export interface RemovalContext extends RegistryContext {
  /** Notifies the dispatcher that a subscription has changed. */
  readonly changed: (subscriptionId: string) => void
}

/**
 * Removes an agent with its keys, subscriptions, push configs and permissions, and ends its open streams and calls. Its tasks stay
 * readable for their originators, and its names stay reserved. Operator only.
 * @param options.freeNames also frees the names, even of an agent that was removed before
 */
export function removeAgent(
  context: RemovalContext,
  caller: Caller,
  handle: string,
  options: { freeNames?: boolean } = {},
): Promise<void> {
  requireOperator(caller, 'remove agents')
  return context.db.transaction(async (tx) => {
    if (options.freeNames && (await freeRemoved(tx, caller.projectId, handle))) return
    const agent = await requireAgent(tx, caller.projectId, handle)
    // A concurrent call that subscribes for the agent either ends before this one, or finds the agent removed.
    await lockAgent(tx, agent.id)
    const session = await newestLiveSession(tx, agent.id)
    const keyIds = (await listApiKeys(tx, agent.id, '', Number.MAX_SAFE_INTEGER)).map(({ keyId }) => keyId)
    const gone = await deleteSubscriptionsOf(tx, agent.id)
    const paused = await pauseManagedBy(tx, agent.id)
    await deleteSessionsOf(tx, agent.id)
    await deletePermissionsOf(tx, agent.id)
    await deleteApiKeys(tx, agent.id)
    await deleteAgent(tx, agent)
    if (options.freeNames) await freeNames(tx, agent.projectId, agent.handle)
    await context.append(tx, agent.projectId, [
      ...paused.map(({ event }) => event),
      ...(session ? [leftWithAgent(agent, session)] : []),
      { type: 'agent.deleted', actor: caller.identity, audience: [agent.id], data: { agent: agent.handle } },
    ])
    tx.onCommit(() => {
      for (const id of [...gone, ...paused.map(({ id }) => id)]) context.changed(id)
      context.revoked([agent.id, ...keyIds])
    })
  })
}

/** False: no agent with that handle was removed, or an agent has the handle now. */
async function freeRemoved(tx: Transaction, projectId: string, handle: string): Promise<boolean> {
  const name = nameOf(handle)
  return !(await findAgent(tx, projectId, name)) && (await freeNames(tx, projectId, name)) > 0
}

/** Pauses the subscriptions of other agents whose target the removed agent set. */
async function pauseManagedBy(tx: Transaction, managerId: string): Promise<{ id: string; event: NewEvent }[]> {
  const paused: { id: string; event: NewEvent }[] = []
  for (const ownerId of await listManagedOwners(tx, managerId)) {
    for (const { id, agentId } of await pauseSubscriptionsManagedBy(tx, managerId, ownerId, grantRevoked)) {
      paused.push({ id, event: pausedEvent(id, agentId, gatewayIdentity, grantRevoked) })
    }
  }
  return paused
}

function leftWithAgent({ handle: identity }: Agent, { id, agentId, surface }: Session): NewEvent {
  const data = { identity, surface, sessionId: id, reason: 'removed' }
  return { type: 'peer.left', actor: gatewayIdentity, audience: [agentId], data }
}
