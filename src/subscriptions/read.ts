import { Problem } from '../errors.ts'
import { requireAgent } from '../registry/agents/agents.ts'
import { type Caller, requireSelf } from '../registry/callers/caller.ts'
import { mayManageSubscriptions, requireMayManage } from '../registry/permissions/grants.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import {
  findSubscription,
  pageSubscriptions,
  type SubscriptionPage,
  type WakeSubscriptions,
} from '../registry/subscriptions/subscription-store.ts'
import type { Reader } from '../storage/database.ts'

/**
 * Returns a page of the caller's own subscriptions; the operator gets the project's. `agentIdentity`: those of another agent,
 * which needs its grant. Errors: `agent-not-found`, `forbidden`.
 */
export async function listOwnSubscriptions(
  db: Reader,
  caller: Caller,
  page: SubscriptionPage,
  agentIdentity?: string,
): Promise<WakeSubscriptions> {
  if (agentIdentity !== undefined) {
    const agent = await requireAgent(db, caller.projectId, agentIdentity)
    await requireMayManage(db, caller, agent)
    return pageSubscriptions(db, { agentId: agent.id }, page)
  }
  const of = caller.kind === 'operator' ? { projectId: caller.projectId } : { agentId: caller.id }
  return pageSubscriptions(db, of, page)
}

/**
 * Returns a subscription of the caller, or of an agent that lets the caller manage it. Any other one is answered as if it did not
 * exist. Errors: `subscription-not-found`. Source: S1-45.
 */
export async function requireSubscription(db: Reader, caller: Caller, id: string): Promise<WakeSubscription> {
  const subscription = await findSubscription(db, id)
  if (
    subscription?.kind === 'wake' &&
    subscription.projectId === caller.projectId &&
    (await mayManageSubscriptions(db, caller, subscription.agentId))
  ) {
    return subscription
  }
  throw new Problem('subscription-not-found', {
    detail: `There is no subscription ${id}, or it is not yours.`,
    remedy: 'list-subscriptions',
  })
}

/**
 * The same, for what sends the past again: a grant to manage does not allow that, or it would reveal what happened before the
 * grant. Errors: `subscription-not-found`, `forbidden`. Source: S1-45.
 */
export async function requireOwnSubscription(db: Reader, caller: Caller, id: string): Promise<WakeSubscription> {
  const subscription = await requireSubscription(db, caller, id)
  requireSelf(caller, subscription.agentId, 'have the past sent again')
  return subscription
}
