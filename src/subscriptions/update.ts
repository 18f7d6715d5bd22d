import { Problem } from '../errors.ts'
import type { Trigger } from '../log/event.ts'
import { identityOf } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { isGrantee, managerOf } from '../registry/permissions/grants.ts'
import { mayBecome, type SubscriptionStatus, subscriptionTransitions } from '../registry/subscriptions/status.ts'
import type { Filters, WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { changeSettings, lockSubscription } from '../registry/subscriptions/subscription-store.ts'
import type { HarnessTarget } from '../registry/subscriptions/targets.ts'
import { deleteReplays } from '../wakes/store/replay-store.ts'
import { changeState } from '../wakes/store/subscription-state.ts'
import { changeEvents } from './change-events.ts'
import { changeOfTarget } from './change-of-target.ts'
import type { SubscriptionContext } from './context.ts'
import { cursorAfter, nextDueAt } from './next-cursor.ts'
import { requireSubscription } from './read.ts'
import { firstKey, rotatedKeys } from './rotated-keys.ts'
import { metadataOf, requireTarget, type TargetMetadata, targetSettings } from './target-input.ts'

export interface UpdateInput {
  trigger?: Trigger
  filters?: Filters
  harnessTarget?: HarnessTarget
  harnessTargetMetadata?: TargetMetadata
  status?: 'active' | 'paused'
  rotateSigningKey?: boolean
  overlapSeconds?: number
}

/**
 * Changes a subscription: what it listens to, where it goes, its key, its status. Becoming active after `degraded` or `paused`
 * resumes from the cursor with one digest. A grantee sees nothing from before: what it points somewhere or makes active goes on
 * from the head of the log, and the key stays the owner's. With another target the cursor, the watermark and the key stay; a target
 * that is signed gets a key if there is none.
 * Errors: `subscription-not-found`, `forbidden`, `invalid-request`, `url-not-allowed`. Source: S1-36, S1-42, S1-43, D5, D21, D24.
 */
export async function updateSubscription(
  context: SubscriptionContext,
  caller: Caller,
  id: string,
  input: UpdateInput,
): Promise<{ subscription: WakeSubscription; signingKey?: string }> {
  const result = await context.db.transaction(async (tx) => {
    await lockSubscription(tx, id)
    const before = await requireSubscription(tx, caller, id)
    const metadata = { ...metadataOf(before), ...input.harnessTargetMetadata }
    const { harnessTarget = before.harnessTarget } = input
    const change = changeOfTarget(before, harnessTarget)
    requireTarget(context, harnessTarget, metadata)
    const status = input.status ?? before.status
    requireTransition(before.status, status)
    const resumes = status === 'active' && before.status !== 'active'
    const isByGrant = isGrantee(caller, before.agentId)
    if (isByGrant && input.rotateSigningKey) throw keyIsTheOwners()
    const points = metadata.url !== before.target.url || change.isOther || resumes
    const startsAtHead = isByGrant && points
    if (points) await requireLiveKey(tx, caller)
    const rotated = input.rotateSigningKey
      ? rotatedKeys(context, before, input.overlapSeconds, tx.now)
      : change.needsKey
        ? firstKey(context, id)
        : { signingKey: undefined, columns: {} }
    const reselects = input.trigger !== undefined || input.filters !== undefined
    // A recovery is a new emission even where it covers what a failed one covered; so is what other filters select.
    const isNewGeneration = resumes || reselects || startsAtHead || change.opensChannel
    const settings = targetSettings(metadata)
    // What failed on the way to degraded is part of the recovery.
    const from = (resumes && before.failing) || before
    const after: WakeSubscription = {
      ...before,
      ...settings,
      ...rotated.columns,
      harnessTarget,
      ...(points ? { keyId: caller.keyId, managedBy: managerOf(caller, before.agentId) } : {}),
      trigger: input.trigger ?? before.trigger,
      filters: input.filters ?? before.filters,
      status,
      reason: resumes ? null : before.reason,
      failedInARow: resumes ? 0 : before.failedInARow,
      lastEmittedLogId: from.lastEmittedLogId,
      failing: resumes || isNewGeneration ? null : before.failing,
      cursorLogId: await cursorAfter(
        tx,
        { ...before, cursorLogId: from.cursorLogId },
        { startsAtHead: startsAtHead || change.closesIdle, reselects },
      ),
      generation: before.generation + (isNewGeneration ? 1 : 0),
      generationAt: isNewGeneration ? tx.now : before.generationAt,
      resumeWithDigest: !startsAtHead && (resumes || change.opensChannel || before.resumeWithDigest),
      dueAt:
        status === 'active' && !startsAtHead ? nextDueAt(before, harnessTarget, settings.coalesceMs, tx.now) : null,
      updatedAt: tx.now,
    }
    if (startsAtHead) await deleteReplays(tx, id)
    await changeSettings(tx, before, after)
    await changeState(tx, before, after)
    const { signingKey } = rotated
    const agent = await identityOf(tx, before.agentId)
    const events = changeEvents(caller, agent, before, after, input.rotateSigningKey === true)
    await context.append(tx, after.projectId, events)
    return { subscription: after, ...(signingKey && !isByGrant ? { signingKey } : {}) }
  })
  context.changed(id)
  return result
}

function keyIsTheOwners(): Problem {
  return new Problem('forbidden', {
    field: 'rotateSigningKey',
    detail: 'rotateSigningKey: only the owner of the subscription may rotate its signing key. Leave the field out.',
  })
}

function requireTransition(from: SubscriptionStatus, to: SubscriptionStatus): void {
  if (mayBecome(from, to)) return
  throw new Problem('invalid-request', {
    field: 'status',
    detail: `status: a ${from} subscription can become ${subscriptionTransitions[from].join(' or ')}.`,
  })
}
