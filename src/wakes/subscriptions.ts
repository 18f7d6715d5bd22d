import { Problem } from '../errors.ts'
import { newSubscriptionId } from '../lib/ids.ts'
import type { AppendEvents } from '../log/append.ts'
import type { EventType, NewEvent, Trigger } from '../log/event.ts'
import { logBounds } from '../log/event-store.ts'
import { requireAgent } from '../registry/agents.ts'
import { type Caller, requireSelf } from '../registry/caller.ts'
import {
  coalesceWindowDefault,
  type Filters,
  type HarnessTarget,
  type Subscription,
  subscriptionTransitions,
  type WakeTarget,
} from '../registry/subscription.ts'
import {
  changeSubscription,
  deleteSubscription,
  findSubscription,
  insertSubscription,
  listProjectSubscriptions,
  listSubscriptions,
} from '../registry/subscription-store.ts'
import type { SecretBox } from '../security/secret.ts'
import type { Database, Reader } from '../storage/database.ts'
import type { Channels } from './channel.ts'

/** How long both keys sign after a rotation that does not say. */
const overlapDefaultSeconds = 24 * 60 * 60

export interface SubscriptionContext {
  readonly db: Database
  readonly append: AppendEvents
  readonly secrets: SecretBox
  readonly channels: Channels
  readonly newSigningKey: () => string
  /** Throws `url-not-allowed` or `invalid-request`. The URL is judged, never probed. */
  readonly checkUrl: (url: string, field: string) => void
  /** Tells the dispatcher that something is due. */
  readonly nudge: () => void
}

/** `harnessTargetMetadata` of S1-43; `coalesceWindow` in seconds, null = the default. */
export interface TargetMetadata {
  url?: string
  coalesceWindow?: number | null
  coalesceMode?: 'window' | 'leading'
  daemonSocketPath?: string
}

export interface SubscribeInput {
  trigger: Trigger
  filters?: Filters
  harnessTarget?: HarnessTarget
  harnessTargetMetadata?: TargetMetadata
  /** For the operator, who has no subscriptions of its own. */
  agentIdentity?: string
}

export interface UpdateInput {
  trigger?: Trigger
  filters?: Filters
  harnessTargetMetadata?: TargetMetadata
  status?: 'active' | 'paused'
  rotateSigningKey?: boolean
  overlapSeconds?: number
}

/** Makes a subscription that starts behind the log's head. The signing key is told once, here. Source: S1-36, S1-44. */
export function subscribe(
  context: SubscriptionContext,
  caller: Caller,
  input: SubscribeInput,
): Promise<{ subscriptionId: string; harnessTarget: HarnessTarget; signingKey?: string }> {
  const metadata = input.harnessTargetMetadata ?? {}
  const harnessTarget = input.harnessTarget ?? (metadata.url ? 'a2a-webhook' : 'disabled') // S1-4
  requireTarget(context, harnessTarget, metadata)
  return context.db.transaction(async (tx) => {
    const agentId = await ownerId(tx, caller, input.agentIdentity)
    const id = newSubscriptionId()
    const signingKey = harnessTarget === 'a2a-webhook' ? context.newSigningKey() : undefined
    const { head } = await logBounds(tx, caller.projectId)
    await insertSubscription(tx, {
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
      previousKey: null,
      previousKeyUntil: null,
      status: 'active',
      reason: null,
      failedInARow: 0,
      cursorLogId: head,
      lastEmittedLogId: null,
      claimedToLogId: null,
      generation: 0,
      generationAt: 0,
      resumeWithDigest: false,
      windowUntil: 0,
      dueAt: null,
      leaseOwner: null,
      createdAt: tx.now,
      updatedAt: tx.now,
    })
    await context.append(tx, caller.projectId, [
      event('subscription.created', caller, { id, agentId }, { harnessTarget }),
    ])
    return { subscriptionId: id, harnessTarget, ...(signingKey ? { signingKey } : {}) }
  })
}

/**
 * Changes a subscription: what it listens to, where it goes, its key, its status. Becoming active again after `degraded` or
 * `paused` resumes from the cursor with one digest. Source: S1-36, S1-42, D5.
 */
export async function updateSubscription(
  context: SubscriptionContext,
  caller: Caller,
  id: string,
  input: UpdateInput,
): Promise<{ subscription: Subscription; signingKey?: string }> {
  const result = await context.db.transaction(async (tx) => {
    const before = await requireSubscription(tx, caller, id)
    const metadata = { ...currentMetadata(before), ...input.harnessTargetMetadata }
    requireTarget(context, before.harnessTarget, metadata)
    const status = input.status ?? before.status
    requireTransition(before, status)
    const resumes = status === 'active' && before.status !== 'active'
    const signingKey = input.rotateSigningKey ? context.newSigningKey() : undefined
    const after: Subscription = {
      ...before,
      trigger: input.trigger ?? before.trigger,
      filters: input.filters ?? before.filters,
      target: wakeTarget(metadata),
      coalesceMs: coalesceMs(metadata),
      ...(signingKey ? rotatedKeys(context, before, signingKey, input.overlapSeconds, tx.now) : {}),
      status,
      reason: resumes ? null : before.reason,
      failedInARow: resumes ? 0 : before.failedInARow,
      // A recovery is a new emission even when it covers what a failed one covered.
      generation: before.generation + (resumes ? 1 : 0),
      generationAt: resumes ? tx.now : before.generationAt,
      resumeWithDigest: resumes || before.resumeWithDigest,
      dueAt: status === 'active' ? nextLook(before, tx.now) : null,
      updatedAt: tx.now,
    }
    await changeSubscription(tx, after)
    await context.append(tx, after.projectId, changeEvents(caller, before, after, signingKey !== undefined))
    return { subscription: after, ...(signingKey ? { signingKey } : {}) }
  })
  context.nudge()
  return result
}

/** Takes a subscription away for good. */
export function unsubscribe(context: SubscriptionContext, caller: Caller, id: string): Promise<void> {
  return context.db.transaction(async (tx) => {
    const subscription = await requireSubscription(tx, caller, id)
    await deleteSubscription(tx, id)
    await context.append(tx, subscription.projectId, [event('subscription.removed', caller, subscription, {})])
  })
}

/** The caller's own subscriptions; the operator sees the project's. */
export function listOwnSubscriptions(db: Reader, caller: Caller): Promise<Subscription[]> {
  return caller.kind === 'operator' ? listProjectSubscriptions(db, caller.projectId) : listSubscriptions(db, caller.id)
}

/** A subscription of the caller's; another's is as absent as one that does not exist. Source: S1-45. */
export async function requireSubscription(db: Reader, caller: Caller, id: string): Promise<Subscription> {
  const subscription = await findSubscription(db, id)
  const own = subscription?.kind === 'wake' && subscription.projectId === caller.projectId
  if (!subscription || !own || (caller.kind !== 'operator' && subscription.agentId !== caller.id)) {
    throw new Problem('subscription-not-found', {
      detail: `No subscription ${id}, or it is not yours. \`rouse sub list\` shows those that are.`,
    })
  }
  return subscription
}

async function ownerId(db: Reader, caller: Caller, agentIdentity: string | undefined): Promise<string> {
  if (agentIdentity === undefined) {
    if (caller.kind === 'agent') return caller.id
    throw new Problem('invalid-request', {
      field: 'agentIdentity',
      detail: "agentIdentity: the operator says whose subscription it is; an agent's own key needs no agentIdentity.",
    })
  }
  const agent = await requireAgent(db, caller.projectId, agentIdentity)
  requireSelf(caller, agent.id, 'subscribe on its behalf')
  return agent.id
}

function requireTarget(context: SubscriptionContext, harnessTarget: HarnessTarget, metadata: TargetMetadata): void {
  const field = 'harnessTargetMetadata.url'
  if (metadata.url !== undefined) context.checkUrl(metadata.url, field)
  else if (harnessTarget === 'a2a-webhook') {
    throw new Problem('invalid-request', { field, detail: `${field}: a2a-webhook needs the address to POST wakes to.` })
  }
}

function requireTransition(before: Subscription, status: Subscription['status']): void {
  if (status === before.status) return
  const allowed: readonly string[] = subscriptionTransitions[before.status]
  if (allowed.includes(status)) return
  throw new Problem('invalid-request', {
    field: 'status',
    detail: `status: a ${before.status} subscription can become ${allowed.join(' or ')}.`,
  })
}

function wakeTarget({ url, coalesceMode, daemonSocketPath }: TargetMetadata): WakeTarget {
  return {
    ...(url === undefined ? {} : { url }),
    ...(coalesceMode === undefined ? {} : { coalesceMode }),
    ...(daemonSocketPath === undefined ? {} : { daemonSocketPath }),
  }
}

function coalesceMs(metadata: TargetMetadata): number {
  return (metadata.coalesceWindow ?? coalesceWindowDefault) * 1000
}

function currentMetadata(subscription: Subscription): TargetMetadata {
  return { ...(subscription.target as WakeTarget), coalesceWindow: subscription.coalesceMs / 1000 }
}

/** A change ends the lease, so whatever was due or being sent is looked at again; a window that is open stays open. */
function nextLook(before: Subscription, now: number): number {
  const windowOpen = before.status === 'active' && before.leaseOwner === null && before.dueAt !== null
  return windowOpen ? before.dueAt! : now
}

function rotatedKeys(
  context: SubscriptionContext,
  before: Subscription,
  signingKey: string,
  overlapSeconds: number | undefined,
  now: number,
) {
  const overlapMs = (overlapSeconds ?? overlapDefaultSeconds) * 1000
  return {
    signingKey: context.secrets.seal(signingKey, before.id),
    previousKey: overlapMs > 0 ? before.signingKey : null,
    previousKeyUntil: overlapMs > 0 ? now + overlapMs : null,
  }
}

function changeEvents(caller: Caller, before: Subscription, after: Subscription, rotated: boolean): NewEvent[] {
  const changed = event('subscription.updated', caller, after, { status: after.status })
  const recovered = before.status === 'degraded' && after.status === 'active'
  return [
    changed,
    ...(recovered ? [event('subscription.recovered', caller, after, { reason: before.reason })] : []),
    ...(rotated
      ? [event('subscription.key_rotated', caller, after, { previousKeyUntil: after.previousKeyUntil })]
      : []),
  ]
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
    audience: [subscription.agentId],
    data: { subscriptionId: subscription.id, ...data },
  }
}
