import { deleteApprovalsOf } from '../approvals/approval-store.ts'
import type { NewEvent } from '../log/event.ts'
import { deleteMcpSessionsOf } from '../mcp-sessions/mcp-session-store.ts'
import type { Agent } from '../registry/agents/agent.ts'
import { freeNames } from '../registry/agents/agent-names.ts'
import { deleteAgent, findAgent, lockAgent } from '../registry/agents/agent-store.ts'
import { nameOf, requireAgent } from '../registry/agents/agents.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import { deleteApiKeys, listApiKeys } from '../registry/callers/api-key-store.ts'
import { type Caller, requireOperator } from '../registry/callers/caller.ts'
import { deleteFollowersOf } from '../registry/followers/follower-store.ts'
import { deletePermissionsOf } from '../registry/permissions/permission-store.ts'
import { deleteGateOf } from '../registry/recovery/gate-store.ts'
import { deleteRecoveryOf } from '../registry/recovery/recovery-store.ts'
import type { Session } from '../registry/sessions/session.ts'
import { newestLiveSession } from '../registry/sessions/session-lists.ts'
import { deleteEndedSessionsOf, deleteSessionsOf } from '../registry/sessions/session-store.ts'
import { removeFinishedPushes } from '../registry/subscriptions/finished-push-store.ts'
import { grantRevoked } from '../registry/subscriptions/status.ts'
import { deleteSubscriptionsOf } from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import { type Rejection, rejectMax, rejectOpenTasks } from '../tasks/reject-tasks.ts'
import { deleteTurnsOf } from '../turns/turn-store.ts'
import { pauseSubscriptionsManagedBy } from '../wakes/store/subscription-state.ts'
import type { IdentityContext } from './context.ts'
import { listManagedOwners } from './key-end-store.ts'
import { pausedEvent } from './paused-event.ts'

/** The outcome of a removal. */
export interface Removal {
  /** `@donna` */
  readonly agent: string
  /** How many open tasks that were assigned to it were rejected. */
  readonly tasksRejected: number
}

/**
 * Removes an agent with its keys, subscriptions, push configs and permissions, and ends its open streams and calls. The open tasks
 * that are assigned to it are rejected first, and their originators woken; tasks that it sent to others go on. Its tasks stay
 * readable for their originators, and its names stay reserved. A removal that fails half-way may have rejected tasks: it can be
 * repeated. Operator only.
 * @param options.freeNames also frees the names, even of an agent that was removed before
 */
export async function removeAgent(
  context: IdentityContext,
  caller: Caller,
  handle: string,
  options: { freeNames?: boolean } = {},
): Promise<Removal> {
  requireOperator(caller, 'remove agents')
  let rejected = 0
  // A hundred in each transaction, so that other writers do not wait for all of them.
  for (let count = rejectMax; count >= rejectMax; rejected += count) {
    count = await context.db.transaction(async (tx) => {
      const agent = await findAgent(tx, caller.projectId, nameOf(handle))
      return agent ? rejectOpenTasks(tx, context, rejectionOf(agent, caller)) : 0
    })
  }
  // So are push configs that send nothing more, and sessions that have ended.
  for (const remove of [removeFinishedPushes, deleteEndedSessionsOf]) {
    for (let count = rejectMax; count >= rejectMax; ) {
      count = await context.db.transaction(async (tx) => {
        const agent = await findAgent(tx, caller.projectId, nameOf(handle))
        return agent ? remove(tx, agent.id, rejectMax) : 0
      })
    }
  }
  return context.db.transaction(async (tx) => {
    if (options.freeNames && (await freeRemoved(tx, caller.projectId, handle))) {
      return { agent: `@${handle.replace(/^@/, '')}`, tasksRejected: 0 }
    }
    const agent = await requireAgent(tx, caller.projectId, handle)
    // A concurrent call that subscribes for the agent either ends before this one, or finds the agent removed.
    await lockAgent(tx, agent.id)
    let last = 0
    for (let count = rejectMax; count >= rejectMax; last += count) {
      count = await rejectOpenTasks(tx, context, rejectionOf(agent, caller))
    }
    await deleteWithAll(tx, context, { agent, caller, freeNames: options.freeNames === true })
    return { agent: agent.handle, tasksRejected: rejected + last }
  })
}

function rejectionOf({ id: assigneeId, handle }: Agent, { id: actorId, identity: actor }: Caller): Rejection {
  return {
    assigneeId,
    actor,
    actorId,
    reason: 'agent-removed',
    text: `${handle} was removed before it ended this task.`,
  }
}

/** Deletes a locked agent and everything that is nothing without it. */
async function deleteWithAll(
  tx: Transaction,
  context: IdentityContext,
  removal: { readonly agent: Agent; readonly caller: Caller; readonly freeNames: boolean },
): Promise<void> {
  const { agent, caller } = removal
  const session = await newestLiveSession(tx, agent.id)
  const keyIds = (await listApiKeys(tx, agent.id, '', Number.MAX_SAFE_INTEGER)).map(({ keyId }) => keyId)
  const gone = await deleteSubscriptionsOf(tx, agent.id, 'agent-removed')
  const paused = await pauseManagedBy(tx, agent.id)
  await deleteSessionsOf(tx, agent.id)
  await deleteMcpSessionsOf(tx, agent.id)
  await deleteRecoveryOf(tx, agent.id)
  await deleteTurnsOf(tx, agent.id)
  await deleteFollowersOf(tx, agent.id)
  await deleteApprovalsOf(tx, agent.id)
  await deleteGateOf(tx, agent.projectId, agent.id)
  await deletePermissionsOf(tx, agent.id)
  await deleteApiKeys(tx, agent.id)
  await deleteAgent(tx, agent)
  if (removal.freeNames) await freeNames(tx, agent.projectId, agent.handle)
  await context.append(tx, agent.projectId, [
    ...paused.map(({ event }) => event),
    ...(session ? [leftWithAgent(agent, session)] : []),
    { type: 'agent.deleted', actor: caller.identity, audience: [agent.id], data: { agent: agent.handle } },
  ])
  tx.onCommit(() => {
    for (const id of [...gone, ...paused.map(({ id }) => id)]) context.sessions.changed(id)
    context.revoked([agent.id, ...keyIds])
    if (!session) return
    const about = { sessionId: session.id, project: agent.projectId, surface: session.surface, agent: agent.handle }
    context.log.info({ ...about, reason: 'removed' }, 'session.ended')
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
