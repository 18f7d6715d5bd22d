import { Problem } from '../errors.ts'
import type { NewEvent, Trigger } from '../log/event.ts'
import { lockLog, logBounds } from '../log/event-store.ts'
import { identityOf } from '../registry/agents/agents.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { isGrantee, managerOf } from '../registry/permissions/grants.ts'
import {
  type Filters,
  isDeliverable,
  type Subscription,
  subscriptionTransitions,
  type WakeTarget,
} from '../registry/subscriptions/subscription.ts'
import { changeSubscription, dropReplays, lockSubscription } from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import { readPending } from '../wakes/read/pending.ts'
import {
  coalesceMs,
  event,
  requireSubscription,
  requireTarget,
  type SubscriptionContext,
  type TargetMetadata,
  wakeTarget,
} from './subscriptions.ts'

/** How long both keys sign after a rotation that does not say. */
const overlapDefaultSeconds = 24 * 60 * 60

export interface UpdateInput {
  trigger?: Trigger
  filters?: Filters
  harnessTargetMetadata?: TargetMetadata
  status?: 'active' | 'paused'
  rotateSigningKey?: boolean
  overlapSeconds?: number
}

/**
 * Changes a subscription: what it listens to, where it goes, its key, its status. Becoming active again after `degraded` or
 * `paused` resumes from the cursor with one digest. Who manages it by a grant sees nothing of before: what it points somewhere or
 * makes active goes on from the log's head; and the key is the owner's. Errors: `forbidden`, `subscription-not-found`.
 * Source: S1-36, S1-42, D5, D21.
 */
export async function updateSubscription(
  context: SubscriptionContext,
  caller: Caller,
  id: string,
  input: UpdateInput,
): Promise<{ subscription: Subscription; signingKey?: string }> {
  const result = await context.db.transaction(async (tx) => {
    await lockSubscription(tx, id)
    const before = await requireSubscription(tx, caller, id)
    const metadata = { ...currentMetadata(before), ...input.harnessTargetMetadata }
    requireTarget(context, before.harnessTarget, metadata)
    const status = input.status ?? before.status
    requireTransition(before, status)
    const resumes = status === 'active' && before.status !== 'active'
    const byGrant = isGrantee(caller, before.agentId)
    if (byGrant && input.rotateSigningKey) throw notItsKey()
    const points = metadata.url !== (before.target as WakeTarget).url || resumes
    const startsAnew = byGrant && points
    if (points) await requireLiveKey(tx, caller)
    const signingKey = input.rotateSigningKey ? context.newSigningKey() : undefined
    const rechosen = input.trigger !== undefined || input.filters !== undefined
    const renewed = resumes || rechosen || startsAnew
    const after: Subscription = {
      ...before,
      cursorLogId: startsAnew ? await headOf(tx, before) : rechosen ? await passedOver(tx, before) : before.cursorLogId,
      trigger: input.trigger ?? before.trigger,
      filters: input.filters ?? before.filters,
      target: wakeTarget(metadata),
      coalesceMs: coalesceMs(metadata),
      ...(signingKey ? rotatedKeys(context, before, signingKey, input.overlapSeconds, tx.now) : {}),
      status,
      reason: resumes ? null : before.reason,
      failedInARow: resumes ? 0 : before.failedInARow,
      // A recovery is a new emission even when it covers what a failed one covered; so is what other filters choose.
      generation: before.generation + (renewed ? 1 : 0),
      generationAt: renewed ? tx.now : before.generationAt,
      resumeWithDigest: !startsAnew && (resumes || before.resumeWithDigest),
      dueAt: status === 'active' && !startsAnew ? nextLook(before, coalesceMs(metadata), tx.now) : null,
      ...(points ? { keyId: caller.keyId, managedBy: managerOf(caller, before.agentId) } : {}),
      updatedAt: tx.now,
    }
    if (startsAnew) await dropReplays(tx, id)
    await changeSubscription(tx, before, after)
    await context.append(
      tx,
      after.projectId,
      changeEvents(caller, await identityOf(tx, before.agentId), before, after, signingKey !== undefined),
    )
    return { subscription: after, ...(signingKey ? { signingKey } : {}) }
  })
  context.changed(id)
  return result
}

function notItsKey(): Problem {
  return new Problem('forbidden', {
    field: 'rotateSigningKey',
    detail: "rotateSigningKey: the signing key is the subscription's owner's, who rotates it. Leave it out.",
  })
}

/** Behind everything that there is: nothing of it is sent. */
async function headOf(tx: Transaction, { projectId }: Subscription): Promise<number> {
  await lockLog(tx, projectId)
  return (await logBounds(tx, projectId)).head
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

function currentMetadata(subscription: Subscription): TargetMetadata {
  return { ...(subscription.target as WakeTarget), coalesceWindow: subscription.coalesceMs / 1000 }
}

/**
 * How far a subscription has come as it was: up to the first event that waits to be sent. Other filters choose from there;
 * what the old ones let go by does not come back.
 */
async function passedOver(tx: Transaction, before: Subscription): Promise<number> {
  await lockLog(tx, before.projectId)
  const { head } = await logBounds(tx, before.projectId)
  if (isIdle(before)) return head
  let after = before.cursorLogId
  for (;;) {
    const page = await readPending(tx, before, after)
    if (page.events[0]) return page.events[0].logId - 1
    if (!page.more) return head
    after = page.scannedTo
  }
}

/** Nothing waits to be sent: the next event makes it due. */
function isIdle(subscription: Subscription): boolean {
  const { status, dueAt, leaseOwner, harnessTarget } = subscription
  return status === 'active' && dueAt === null && leaseOwner === null && isDeliverable(harnessTarget)
}

/** A change ends the lease, so whatever was being sent is looked at again; a window that is open stays open, or shrinks. */
function nextLook(before: Subscription, coalesceMs: number, now: number): number | null {
  if (isIdle(before) || !isDeliverable(before.harnessTarget)) return null
  const windowOpen = before.status === 'active' && before.leaseOwner === null && before.dueAt !== null
  return windowOpen ? Math.min(before.dueAt!, now + coalesceMs) : now
}

function rotatedKeys(
  context: SubscriptionContext,
  before: Subscription,
  signingKey: string,
  overlapSeconds: number | undefined,
  now: number,
) {
  const overlapMs = Math.round((overlapSeconds ?? overlapDefaultSeconds) * 1000)
  return {
    signingKey: context.secrets.seal(signingKey, before.id),
    previousKey: overlapMs > 0 ? before.signingKey : null,
    previousKeyUntil: overlapMs > 0 ? now + overlapMs : null,
  }
}

function changeEvents(
  caller: Caller,
  agent: string,
  before: Subscription,
  after: Subscription,
  rotated: boolean,
): NewEvent[] {
  const changed = event('subscription.updated', caller, after, { status: after.status })
  const recovered = before.status === 'degraded' && after.status === 'active'
  return [
    changed,
    ...(recovered ? [event('subscription.recovered', caller, after, { agent, reason: before.reason })] : []),
    ...(rotated
      ? [event('subscription.key_rotated', caller, after, { agent, previousKeyUntil: instant(after.previousKeyUntil) })]
      : []),
  ]
}

function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
