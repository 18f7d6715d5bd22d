import { Problem } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { newSubscriptionId } from '../lib/ids.ts'
import type { AppendEvents } from '../log/append.ts'
import { type EventType, type NewEvent, operatorAudience, signalTriggers, type Trigger } from '../log/event.ts'
import { lockLog, logBounds } from '../log/event-store.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { requireAgent } from '../registry/agents/agents.ts'
import { type Caller, requireSelf } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { isGrantee, managerOf, mayManageSubscriptions, requireMayManage } from '../registry/permissions/grants.ts'
import { newestLiveSession } from '../registry/sessions/session-store.ts'
import { requireRoom } from '../registry/shares/shares.ts'
import {
  coalesceWindowDefault,
  type Filters,
  type HarnessTarget,
  type Subscription,
  unsent,
  type WakeTarget,
} from '../registry/subscriptions/subscription.ts'
import {
  countSubscriptions,
  deleteSubscription,
  findSubscription,
  insertSubscription,
  pageSubscriptions,
  type SubscriptionPage,
} from '../registry/subscriptions/subscription-store.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Database, Reader } from '../storage/database.ts'
import type { Channels } from '../wakes/channel.ts'
import { audienceOf } from '../wakes/rules/signal-audience.ts'

export interface SubscriptionContext {
  readonly db: Database
  readonly append: AppendEvents
  readonly secrets: SecretBox
  readonly channels: Channels
  readonly newSigningKey: () => string
  /** Throws `url-not-allowed` or `invalid-request`. The URL is judged, never probed. */
  readonly checkUrl: (url: string, field: string) => void
  readonly clock: Clock
  /** Tells the dispatcher that a subscription is not what it was: its run ends, and a new one may be due. */
  readonly changed: (subscriptionId: string) => void
}

/** `harnessTargetMetadata` of S1-43; `coalesceWindow` in seconds, null = the default. */
export interface TargetMetadata {
  url?: string
  coalesceWindow?: number | null
  coalesceMode?: 'window' | 'leading'
  daemonSocketPath?: string
  /** Requests in flight at the same time, 1–64; the cursor follows the oldest. Default 1: each waits for the one before. */
  maxInFlight?: number
}

export interface SubscribeInput {
  trigger: Trigger
  filters?: Filters
  harnessTarget?: HarnessTarget
  harnessTargetMetadata?: TargetMetadata
  /** For the operator, who has no subscriptions of its own. */
  agentIdentity?: string
  /** The live session that opens it: when that ends, the subscription is paused. */
  sessionId?: string
}

/**
 * Makes a subscription that starts behind the log's head. The signing key is told once, here, to the agent whose subscription it
 * is or to the operator; whoever makes it by a grant does not learn it: the owner rotates it to get one. Source: S1-36, S1-44,
 * D21.
 */
export function subscribe(
  context: SubscriptionContext,
  caller: Caller,
  input: SubscribeInput,
): Promise<{ subscriptionId: string; harnessTarget: HarnessTarget; signingKey?: string }> {
  const metadata = input.harnessTargetMetadata ?? {}
  const harnessTarget = input.harnessTarget ?? (metadata.url ? 'a2a-webhook' : 'disabled') // S1-4
  requireTarget(context, harnessTarget, metadata)
  return context.db.transaction(async (tx) => {
    const agentId = await ownerId(tx, caller, input.trigger, input.agentIdentity)
    if (agentId !== operatorAudience && !(await lockAgent(tx, agentId))) {
      throw new Problem('agent-not-found', { detail: 'The agent was removed meanwhile.' })
    }
    await requireLiveKey(tx, caller)
    requireRoom(caller, 'subscriptions', await countSubscriptions(tx, agentId), 'Remove those that are not in use.')
    if (input.sessionId !== undefined) await requireSessionOf(tx, agentId, input.sessionId)
    const id = newSubscriptionId()
    const signingKey = harnessTarget === 'a2a-webhook' ? context.newSigningKey() : undefined
    await lockLog(tx, caller.projectId)
    const { head } = await logBounds(tx, caller.projectId)
    await insertSubscription(tx, {
      ...unsent,
      id,
      kind: 'wake',
      projectId: caller.projectId,
      agentId,
      audience: agentId,
      trigger: input.trigger,
      filters: input.filters ?? {},
      harnessTarget,
      target: wakeTarget(metadata),
      coalesceMs: coalesceMs(metadata),
      signingKey: signingKey ? context.secrets.seal(signingKey, id) : null,
      status: 'active',
      reason: null,
      cursorLogId: head,
      sessionId: input.sessionId ?? null,
      keyId: caller.keyId,
      managedBy: managerOf(caller, agentId),
      createdAt: tx.now,
      updatedAt: tx.now,
    })
    await context.append(tx, caller.projectId, [
      event('subscription.created', caller, { id, agentId }, { harnessTarget }),
    ])
    const isTold = signingKey !== undefined && !isGrantee(caller, agentId)
    return { subscriptionId: id, harnessTarget, ...(isTold ? { signingKey } : {}) }
  })
}

/** Takes a subscription away for good. */
export async function unsubscribe(context: SubscriptionContext, caller: Caller, id: string): Promise<void> {
  await context.db.transaction(async (tx) => {
    const subscription = await requireSubscription(tx, caller, id)
    await deleteSubscription(tx, id)
    await context.append(tx, subscription.projectId, [event('subscription.removed', caller, subscription, {})])
  })
  context.changed(id)
}

/**
 * The caller's own subscriptions; the operator sees the project's. `agentIdentity`: another agent's, with its grant.
 * Errors: `agent-not-found`, `forbidden`.
 */
export async function listOwnSubscriptions(
  db: Reader,
  caller: Caller,
  page: SubscriptionPage,
  agentIdentity?: string,
): Promise<Subscription[]> {
  if (agentIdentity !== undefined) {
    const agent = await requireAgent(db, caller.projectId, agentIdentity)
    await requireMayManage(db, caller, agent)
    return pageSubscriptions(db, { agentId: agent.id }, page)
  }
  const of = caller.kind === 'operator' ? { projectId: caller.projectId } : { agentId: caller.id }
  return pageSubscriptions(db, of, page)
}

/**
 * A subscription of the caller's, or of an agent that lets it manage them; any other is as absent as one that does not exist.
 * Source: S1-45.
 */
export async function requireSubscription(db: Reader, caller: Caller, id: string): Promise<Subscription> {
  const subscription = await findSubscription(db, id)
  const here = subscription?.kind === 'wake' && subscription.projectId === caller.projectId
  if (!subscription || !here || !(await mayManageSubscriptions(db, caller, subscription.agentId))) {
    throw new Problem('subscription-not-found', {
      detail: `No subscription ${id}, or it is not yours. \`rouse sub list\` shows those that are.`,
    })
  }
  return subscription
}

/**
 * The same, for what sends the past again: a grant to manage lets nobody but the owner and the operator do that, or it would
 * open what went by before the grant. Errors: `forbidden`. Source: S1-45.
 */
export async function requireOwnSubscription(db: Reader, caller: Caller, id: string): Promise<Subscription> {
  const subscription = await requireSubscription(db, caller, id)
  requireSelf(caller, subscription.agentId, 'have the past sent again')
  return subscription
}

async function ownerId(
  db: Reader,
  caller: Caller,
  trigger: Trigger,
  agentIdentity: string | undefined,
): Promise<string> {
  if (agentIdentity === undefined) {
    if (caller.kind === 'agent') return caller.id
    if ((signalTriggers as readonly string[]).includes(trigger)) return operatorAudience
    throw new Problem('invalid-request', {
      field: 'agentIdentity',
      detail:
        "agentIdentity: the operator says whose subscription it is, unless its trigger is a signal (SUBSCRIPTION_DEGRADED, …); an agent's own key needs no agentIdentity.",
    })
  }
  const agent = await requireAgent(db, caller.projectId, agentIdentity)
  await requireMayManage(db, caller, agent)
  return agent.id
}

async function requireSessionOf(db: Reader, agentId: string, sessionId: string): Promise<void> {
  if ((await newestLiveSession(db, agentId))?.id === sessionId) return
  throw new Problem('session-not-found', {
    field: 'sessionId',
    detail: `sessionId: ${sessionId} is no live session of the subscription's agent. Leave it out, and it lives until it is removed.`,
  })
}

export function requireTarget(
  context: SubscriptionContext,
  harnessTarget: HarnessTarget,
  metadata: TargetMetadata,
): void {
  const field = 'harnessTargetMetadata.url'
  if (metadata.url !== undefined) context.checkUrl(metadata.url, field)
  else if (harnessTarget === 'a2a-webhook') {
    throw new Problem('invalid-request', { field, detail: `${field}: a2a-webhook needs the address to POST wakes to.` })
  }
}

export function wakeTarget({ url, coalesceMode, daemonSocketPath, maxInFlight }: TargetMetadata): WakeTarget {
  return {
    ...(url === undefined ? {} : { url }),
    ...(coalesceMode === undefined ? {} : { coalesceMode }),
    ...(daemonSocketPath === undefined ? {} : { daemonSocketPath }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
  }
}

export function coalesceMs(metadata: TargetMetadata): number {
  return Math.round((metadata.coalesceWindow ?? coalesceWindowDefault) * 1000)
}

/** A row of the log about a subscription: it concerns its agent. */
export function event(
  type: EventType,
  caller: Caller,
  subscription: { id: string; agentId: string },
  data: object,
): NewEvent {
  return {
    type,
    actor: caller.identity,
    audience: audienceOf(type, subscription.agentId),
    data: { subscriptionId: subscription.id, ...data },
  }
}
