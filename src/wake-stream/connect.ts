import { Problem } from '../errors.ts'
import type { NewEvent } from '../log/event.ts'
import { gatewayIdentity, identityOf } from '../registry/agents/identity.ts'
import { type Caller, requireSelf } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { mayManageSubscriptions } from '../registry/permissions/grants.ts'
import { notConnected } from '../registry/subscriptions/status.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { findSubscription, lockSubscription } from '../registry/subscriptions/subscription-store.ts'
import { type ConnectingTarget, targets } from '../registry/subscriptions/targets.ts'
import type { Transaction } from '../storage/database.ts'
import { audienceOf } from '../wakes/rules/signal-audience.ts'
import { retryHeldOf } from '../wakes/store/retry-held.ts'
import { connectStream, disconnectStream, type StreamKey } from '../wakes/store/stream-state.ts'
import type { WakeStreamContext } from './context.ts'

/**
 * Connects subscriptions to a stream, all or none. It counts as a sign of life of the agent. Events that were held because the stream
 * before could not deliver them are tried again. Source: D28, D31.
 */
export async function connectSubscriptions(
  { db, append, changed, target }: WakeStreamContext,
  caller: Caller,
  subscriptionIds: readonly string[],
  stream: StreamKey,
): Promise<void> {
  await db.transaction(async (tx) => {
    await requireLiveKey(tx, caller)
    // In one order, so that two streams of the same subscriptions wait for each other.
    for (const id of [...subscriptionIds].sort()) {
      await lockSubscription(tx, id)
      const subscription = await requireStreamed(tx, caller, id, target)
      await connectStream(tx, subscription, stream)
      if (targets[target].isGated) await retryHeldOf(tx, id)
      await append(tx, subscription.projectId, await connectEvents(tx, caller, subscription))
    }
    tx.onCommit(() => subscriptionIds.forEach(changed))
  })
}

/** Ends the connection of a subscription to a stream, unless another stream has it already. */
export async function disconnectSubscription(
  { db, append, changed }: WakeStreamContext,
  id: string,
  streamId: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockSubscription(tx, id)
    if (!(await disconnectStream(tx, id, streamId))) return
    const subscription = await findSubscription(tx, id)
    if (!subscription) return
    const data = { subscriptionId: id, status: 'waiting', reason: notConnected }
    const audience = audienceOf('subscription.updated', subscription.agentId)
    await append(tx, subscription.projectId, [{ type: 'subscription.updated', actor: gatewayIdentity, audience, data }])
    tx.onCommit(() => changed(id))
  })
}

/** Returns a subscription of the caller that is read as a stream. A grant to manage it is not enough: what gathered is its owner's. */
async function requireStreamed(
  tx: Transaction,
  caller: Caller,
  id: string,
  target: ConnectingTarget,
): Promise<WakeSubscription> {
  const subscription = await findSubscription(tx, id)
  const isVisible =
    subscription?.kind === 'wake' &&
    subscription.projectId === caller.projectId &&
    (await mayManageSubscriptions(tx, caller, subscription.agentId))
  if (!isVisible) {
    throw new Problem('subscription-not-found', {
      detail: `There is no subscription ${id}, or it is not yours. \`rouse sub list\` lists your subscriptions.`,
    })
  }
  requireSelf(caller, subscription.agentId, 'read the wakes of a subscription')
  const lacksKey = targets[target].isSigned && subscription.signingKey === null
  if (subscription.harnessTarget === target && !lacksKey) return subscription
  throw new Problem('invalid-request', {
    field: 'subscription',
    detail:
      lacksKey && subscription.harnessTarget === target
        ? `subscription: ${id} has no signing key. Make one with PATCH {"rotateSigningKey":true}.`
        : `subscription: the wakes of ${id} go to ${subscription.harnessTarget}. Only those of a subscription with harnessTarget "${target}" are read as this stream.`,
  })
}

async function connectEvents(
  tx: Transaction,
  caller: Caller,
  { id, agentId, status, reason }: WakeSubscription,
): Promise<NewEvent[]> {
  if (status === 'active' || status === 'paused') return []
  const event = (type: 'subscription.updated' | 'subscription.recovered', data: object): NewEvent => ({
    type,
    actor: caller.identity,
    actorId: caller.id,
    audience: audienceOf(type, agentId),
    data: { subscriptionId: id, ...data },
  })
  const updated = event('subscription.updated', { status: 'active' })
  if (status !== 'degraded') return [updated]
  return [updated, event('subscription.recovered', { agent: await identityOf(tx, agentId), reason })]
}
