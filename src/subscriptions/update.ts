import { Problem } from '../errors.ts'
import type { NewEvent } from '../log/event.ts'
import { lockLog } from '../log/event-store.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { identityOf } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { managerOf } from '../registry/permissions/grants.ts'
import { type FormerKey, formerKeysMax, signingFormerKeys } from '../registry/subscriptions/former-keys.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { changeSettings, lockSubscription } from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import { selectsAlike } from '../wakes/read/scan-pending.ts'
import { announceNothing } from '../wakes/store/announce-waiting.ts'
import { changeState } from '../wakes/store/change-state.ts'
import { deleteReplays } from '../wakes/store/replay-store.ts'
import { dropUnfinished } from '../wakes/store/unfinished-store.ts'
import type { SubscriptionContext } from './context.ts'
import { requireFilterSize } from './filter-size.ts'
import { scanPassed } from './next-cursor.ts'
import {
  type PlannedChange,
  planChange,
  reselects,
  stateAfter,
  stateBefore,
  type UpdateInput,
} from './planned-change.ts'
import { requireSubscription } from './read.ts'
import { subscriptionEvent } from './subscription-event.ts'
import { requireTarget, targetSettings } from './target-input.ts'

/** How long both keys sign after a rotation that does not say. */
const overlapDefaultSeconds = 24 * 60 * 60

/**
 * Changes a subscription: what it listens to, where it goes, its key, its status. Becoming active after `degraded` or `paused`
 * resumes from the cursor with one digest. A grantee sees nothing from before: what it points somewhere or makes active goes on
 * from the head of the log, and the key stays the owner's. With another target the cursor, the watermark and the key stay; a target
 * that is signed gets a key if there is none.
 * Errors: `subscription-not-found`, `forbidden`, `invalid-request`, `payload-too-large`, `limit-exceeded`, `url-not-allowed`. Source: S1-36, S1-42, S1-43, D5, D21, D24.
 */
export async function updateSubscription(
  context: SubscriptionContext,
  caller: Caller,
  id: string,
  input: UpdateInput,
): Promise<{ subscription: WakeSubscription; signingKey?: string }> {
  // Filters that were larger before there was a limit stay while a change does not name them.
  if (input.filters) requireFilterSize(input.filters)
  for (;;) {
    const scanned = await scanBefore(context, caller, id, input)
    const result = await context.db.transaction(async (tx) => {
      await lockOwner(tx, caller, id, input)
      await lockSubscription(tx, id)
      const before = await requireSubscription(tx, caller, id)
      const plan = planChange(caller, before, input)
      if (needsScan(plan) && !(scanned && isCurrent(scanned, before, plan))) return undefined
      return change(context, tx, caller, { before, plan, input, scannedTo: scanned?.to ?? 0 })
    })
    // undefined: another request changed the subscription meanwhile.
    if (result === undefined) continue
    context.changed(id)
    return result
  }
}

/**
 * Makes the changes of an agent's subscriptions that may need room wait for each other: each counts what the others have. The agent comes
 * first, as for its removal.
 */
async function lockOwner(tx: Transaction, caller: Caller, id: string, input: UpdateInput): Promise<void> {
  const mayGrow = input.filters !== undefined || input.harnessTargetMetadata !== undefined
  if (caller.kind === 'operator' || !mayGrow) return
  const { agentId } = await requireSubscription(tx, caller, id)
  await lockAgent(tx, agentId)
}

/** How far the log was read before a change to other filters. */
interface Scanned {
  readonly subscription: WakeSubscription
  readonly from: number
  readonly to: number
}

/** Returns undefined where the change needs no look at the log. */
async function scanBefore(
  { db }: SubscriptionContext,
  caller: Caller,
  id: string,
  input: UpdateInput,
): Promise<Scanned | undefined> {
  // Most changes are not such ones, and read nothing first.
  if (!reselects(input)) return undefined
  const { subscription, head } = await db.transaction(async (tx) => {
    const subscription = await requireSubscription(tx, caller, id)
    return { subscription, head: await lockLog(tx, subscription.projectId) }
  })
  const plan = planChange(caller, subscription, input)
  if (!needsScan(plan)) return undefined
  const from = { ...subscription, cursorLogId: stateBefore(subscription, plan.resumes).cursorLogId }
  return { subscription, from: from.cursorLogId, to: await scanPassed(db, from, head) }
}

function needsScan({ reselects, startsAtHead }: PlannedChange): boolean {
  return reselects && !startsAtHead
}

function isCurrent({ subscription, from }: Scanned, before: WakeSubscription, { resumes }: PlannedChange): boolean {
  return selectsAlike(subscription, before) && stateBefore(before, resumes).cursorLogId >= from
}

interface Change {
  readonly before: WakeSubscription
  readonly plan: PlannedChange
  readonly input: UpdateInput
  readonly scannedTo: number
}

async function change(
  context: SubscriptionContext,
  tx: Transaction,
  caller: Caller,
  { before, plan, input, scannedTo }: Change,
): Promise<{ subscription: WakeSubscription; signingKey?: string }> {
  const { id } = before
  requireTarget(context, plan.harnessTarget, plan.metadata)
  if (plan.points || input.rotateSigningKey) await requireLiveKey(tx, caller)
  const { signingKey, columns } = keysAfter(context, before, plan, input, tx.now)
  const settings = targetSettings(plan.metadata)
  const after: WakeSubscription = {
    ...before,
    ...settings,
    ...columns,
    harnessTarget: plan.harnessTarget,
    // A holder of the signing key can write wakes, so a rotation counts as much as a destination.
    ...(plan.points || input.rotateSigningKey ? { keyId: caller.keyId } : {}),
    ...(plan.points ? { managedBy: managerOf(caller, before.agentId) } : {}),
    trigger: input.trigger ?? before.trigger,
    filters: input.filters ?? before.filters,
    ...(await stateAfter(tx, before, plan, { coalesceMs: settings.coalesceMs, scannedTo })),
    updatedAt: tx.now,
  }
  if (plan.startsAtHead) await forgetEarlier(tx, id)
  // A payload that is kept as it was sent has subjects: it is made again.
  else if (plan.metadata.withoutSubjects && !before.target.withoutSubjects) await dropUnfinished(tx, id)
  await changeSettings(tx, before, after)
  await changeState(tx, before, after)
  const agent = await identityOf(tx, before.agentId)
  const events = changeEvents(caller, agent, before, after, input.rotateSigningKey === true)
  await context.append(tx, after.projectId, events)
  return { subscription: after, ...(signingKey && !plan.isByGrant ? { signingKey } : {}) }
}

/**
 * Drops the wakes that were requested or begun before, so that they go nowhere else: replays, what waits for the owner, and emissions that
 * are open. Source: D21.
 */
async function forgetEarlier(tx: Transaction, id: string): Promise<void> {
  await deleteReplays(tx, id)
  await announceNothing(tx, id)
  await dropUnfinished(tx, id)
}

/** Returns the new key, if the change makes one, with the columns that keep it. */
function keysAfter(
  context: SubscriptionContext,
  before: WakeSubscription,
  { target }: PlannedChange,
  { rotateSigningKey, overlapSeconds }: UpdateInput,
  now: number,
): { readonly signingKey?: string; readonly columns: Partial<WakeSubscription> } {
  if (rotateSigningKey) return rotatedKeys(context, before, overlapSeconds, now)
  return target.needsKey ? firstKey(context, before.id) : { columns: {} }
}

/** Returns the events of a change: the change itself, a recovery, a new key. `agent` is the owner's identity. */
function changeEvents(
  caller: Caller,
  agent: string,
  before: WakeSubscription,
  after: WakeSubscription,
  isKeyRotated: boolean,
): NewEvent[] {
  const { status } = after
  const events = [subscriptionEvent('subscription.updated', caller, after, { status })]
  if (before.status === 'degraded' && status === 'active') {
    events.push(subscriptionEvent('subscription.recovered', caller, after, { agent, reason: before.reason }))
  }
  if (isKeyRotated) {
    const previous = after.formerKeys.find(({ key }) => key === before.signingKey)
    const previousKeyUntil = previous ? new Date(previous.until).toISOString() : null
    events.push(subscriptionEvent('subscription.key_rotated', caller, after, { agent, previousKeyUntil }))
  }
  return events
}

/** Makes the key of a subscription that has none yet. */
function firstKey(
  { newSigningKey, secrets }: Pick<SubscriptionContext, 'newSigningKey' | 'secrets'>,
  id: string,
): { readonly signingKey: string; readonly columns: Pick<WakeSubscription, 'signingKey'> } {
  const signingKey = newSigningKey()
  return { signingKey, columns: { signingKey: secrets.seal(signingKey, id) } }
}

/**
 * Makes a new signing key. Returns it with the columns that keep it and the former keys that still sign: each for the overlap
 * that its own rotation promised. Errors: `rotation-too-soon`. Source: D36.
 */
function rotatedKeys(
  { newSigningKey, secrets }: Pick<SubscriptionContext, 'newSigningKey' | 'secrets'>,
  before: Pick<WakeSubscription, 'id' | 'signingKey' | 'formerKeys'>,
  overlapSeconds: number | undefined,
  now: number,
): { readonly signingKey: string; readonly columns: Pick<WakeSubscription, 'signingKey' | 'formerKeys'> } {
  const signingKey = newSigningKey()
  const overlapMs = Math.round((overlapSeconds ?? overlapDefaultSeconds) * 1000)
  const earlier = signingFormerKeys(before, now)
  const previous = before.signingKey && overlapMs > 0 ? [{ key: before.signingKey, until: now + overlapMs }] : []
  const formerKeys = [...previous, ...earlier]
  if (formerKeys.length > formerKeysMax) throw tooSoon(earlier)
  return { signingKey, columns: { signingKey: secrets.seal(signingKey, before.id), formerKeys } }
}

function tooSoon(former: readonly FormerKey[]): Problem {
  const nextRotationAt = new Date(Math.min(...former.map(({ until }) => until))).toISOString()
  return new Problem('rotation-too-soon', {
    field: 'rotateSigningKey',
    detail: `rotateSigningKey: ${former.length} former keys still sign, as their rotations promised. Rotate again from ${nextRotationAt}, or with overlapSeconds: 0, which ends the present key at once.`,
    extra: { nextRotationAt },
  })
}
