import { Problem } from '../errors.ts'
import type { NewEvent } from '../log/event.ts'
import { gatewayIdentity, identitiesOf } from '../registry/agents/identity.ts'
import { type Caller, requireSelf } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { mayManageSubscriptions } from '../registry/permissions/grants.ts'
import { notConnected } from '../registry/subscriptions/status.ts'
import type { Subscription, WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { lockSubscriptions } from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import { audienceOf } from '../wakes/rules/signal-audience.ts'
import { retryHeldOf } from '../wakes/store/retry-held.ts'
import { connectStream, disconnectStream, type StreamKey } from '../wakes/store/stream-state.ts'
import { type ConnectingTarget, targets } from '../words/targets.ts'
import type { WakeStreamContext } from './context.ts'

/** The fate of the others when one of the subscriptions cannot be read as the stream: all are refused, or it alone is left out. */
type Unfit = 'refuse' | 'leave-out'

/**
 * Connects subscriptions to a stream, in one transaction. It counts as a sign of life of the agent. Events that were held because the
 * stream before could not deliver them are tried again. Returns those that were connected, as they were before. Source: D28, D31.
 */
export async function connectSubscriptions(
  { db, append, changed, target }: WakeStreamContext,
  caller: Caller,
  subscriptionIds: readonly string[],
  stream: StreamKey,
  unfit: Unfit,
): Promise<WakeSubscription[]> {
  return db.transaction(async (tx) => {
    await requireLiveKey(tx, caller)
    const locked = new Map((await lockSubscriptions(tx, subscriptionIds)).map((one) => [one.id, one]))
    const fit: WakeSubscription[] = []
    for (const id of new Set(subscriptionIds)) {
      const subscription = await fitOrFlaw(tx, caller, id, locked.get(id), target)
      if (!(subscription instanceof Problem)) fit.push(subscription)
      else if (unfit === 'refuse') throw subscription
    }
    const ids = fit.map(({ id }) => id)
    await connectStream(tx, fit, stream)
    if (targets[target].isGated) await retryHeldOf(tx, ids)
    await append(tx, caller.projectId, await connectEvents(tx, caller, fit))
    tx.onCommit(() => ids.forEach((id) => void changed(id)))
    return fit
  })
}

/**
 * Ends the connections of subscriptions in one transaction. `streamOf`: the id of the stream that ends, of each; one that another stream
 * has already is left to it.
 */
export async function disconnectSubscriptions(
  { db, append, changed }: WakeStreamContext,
  streamOf: ReadonlyMap<string, string>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockSubscriptions(tx, [...streamOf.keys()])
    const own = locked.filter((one) => one.kind === 'wake' && one.streamId === streamOf.get(one.id))
    const waits = await disconnectStream(
      tx,
      own.map(({ id }) => id),
    )
    const waiting = own.filter(({ id }) => waits.has(id))
    for (const projectId of new Set(waiting.map((one) => one.projectId))) {
      await append(tx, projectId, waiting.filter((one) => one.projectId === projectId).map(disconnectEvent))
    }
    tx.onCommit(() => waits.forEach((id) => void changed(id)))
  })
}

function disconnectEvent({ id, agentId }: Subscription): NewEvent {
  const data = { subscriptionId: id, status: 'waiting', reason: notConnected }
  const audience = audienceOf('subscription.updated', agentId)
  return { type: 'subscription.updated', actor: gatewayIdentity, audience, data }
}

/**
 * Returns a subscription of the caller that is read as a stream, or why it is not. A grant to manage it is not enough: what gathered is
 * its owner's. Errors: `forbidden`.
 */
async function fitOrFlaw(
  tx: Transaction,
  caller: Caller,
  id: string,
  subscription: Subscription | undefined,
  target: ConnectingTarget,
): Promise<WakeSubscription | Problem> {
  const isVisible =
    subscription?.kind === 'wake' &&
    subscription.projectId === caller.projectId &&
    (await mayManageSubscriptions(tx, caller, subscription.agentId))
  if (!isVisible) {
    return new Problem('subscription-not-found', {
      detail: `There is no subscription ${id}, or it is not yours.`,
      remedy: 'list-subscriptions',
    })
  }
  requireSelf(caller, subscription.agentId, 'read the wakes of a subscription')
  const lacksKey = targets[target].isSigned && subscription.signingKey === null
  const isFit = subscription.harnessTarget === target && !lacksKey
  if (isFit && !mayHear(caller, subscription)) {
    return new Problem('forbidden', {
      detail: `The wakes of ${id} have subjects, which needs the scope "read". Use a key with that scope, or make a subscription with this key: its wakes have ids and counts only.`,
      extra: { scope: 'read' },
    })
  }
  if (isFit) return subscription
  const field = 'subscription'
  if (subscription.harnessTarget === target) {
    const detail = `subscription: ${id} has no signing key.`
    return new Problem('invalid-request', { field, detail, remedy: 'make-signing-key', extra: { subscriptionId: id } })
  }
  return new Problem('invalid-request', {
    field,
    detail: `subscription: the wakes of ${id} go to ${subscription.harnessTarget}. Only those of a subscription with harnessTarget "${target}" are read as this stream.`,
  })
}

/** Nobody reads over a stream what he may not read. Source: D46. */
function mayHear({ scopes }: Caller, { target }: WakeSubscription): boolean {
  return scopes.includes('read') || target.withoutSubjects === true
}

async function connectEvents(
  tx: Transaction,
  caller: Caller,
  subscriptions: readonly WakeSubscription[],
): Promise<NewEvent[]> {
  const degraded = subscriptions.filter(({ status }) => status === 'degraded').map(({ agentId }) => agentId)
  const identity = await identitiesOf(tx, [...new Set(degraded)])
  return subscriptions.flatMap(({ id, agentId, status, reason }): NewEvent[] => {
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
    return [updated, event('subscription.recovered', { agent: identity(agentId), reason })]
  })
}
