import { Problem } from '../errors.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { isGrantee } from '../registry/permissions/grants.ts'
import {
  isOn,
  mayBecome,
  notConnected,
  type SubscriptionStatus,
  subscriptionTransitions,
} from '../registry/subscriptions/status.ts'
import {
  type DeliveryState,
  type Filters,
  isIdle,
  type WakeSubscription,
  type WakeTarget,
} from '../registry/subscriptions/subscription.ts'
import type { Transaction } from '../storage/database.ts'
import type { Trigger } from '../words/events.ts'
import { type HarnessTarget, isDeliverable, liveStatus, targets } from '../words/targets.ts'
import { cursorAfter, nextDueAt } from './next-cursor.ts'
import { metadataOf, subjectsFor, type TargetMetadata } from './target-input.ts'

export interface UpdateInput {
  trigger?: Trigger
  filters?: Filters
  harnessTarget?: HarnessTarget
  harnessTargetMetadata?: TargetMetadata
  status?: 'active' | 'paused'
  rotateSigningKey?: boolean
  overlapSeconds?: number
}

/** The effects of a change on a subscription. */
export interface PlannedChange {
  readonly harnessTarget: HarnessTarget
  readonly metadata: TargetMetadata & Pick<WakeTarget, 'withoutSubjects'>
  readonly target: ChangeOfTarget
  readonly status: SubscriptionStatus
  /** It becomes active. */
  readonly resumes: boolean
  /** It has another trigger or other filters. */
  readonly reselects: boolean
  /** The caller sets where it goes, or makes it active. */
  readonly points: boolean
  readonly isByGrant: boolean
  /** A grantee gets nothing from before. */
  readonly startsAtHead: boolean
}

/** True when an update sets another trigger or other filters. */
export function reselects({ trigger, filters }: UpdateInput): boolean {
  return trigger !== undefined || filters !== undefined
}

/** Returns what a change means. Pure. Errors: `invalid-request` for the status and for what a client of MCP decides, `forbidden` for a grantee that rotates the key. */
export function planChange(caller: Caller, before: WakeSubscription, input: UpdateInput): PlannedChange {
  requireOwnSettings(before, input)
  const { harnessTarget = before.harnessTarget } = input
  const streamId = harnessTarget === before.harnessTarget ? before.streamId : null
  const wanted = input.status ?? before.status
  const status = isOn(wanted) ? liveStatus(harnessTarget, streamId) : wanted
  requireTransition(before.status, status)
  const isByGrant = isGrantee(caller, before.agentId)
  if (isByGrant && input.rotateSigningKey) throw keyIsTheOwners()
  const { withoutSubjects, ...known } = metadataOf(before)
  const given = { ...known, ...input.harnessTargetMetadata }
  const target = changeOfTarget(before, harnessTarget, status)
  const resumes = isOn(status) && !isOn(before.status)
  const isElsewhere = given.url !== before.target.url || target.isOther
  const metadata = { ...given, ...(isElsewhere ? subjectsFor(caller) : withoutSubjects ? { withoutSubjects } : {}) }
  const points = isElsewhere || resumes
  const startsAtHead = isByGrant && points
  return {
    harnessTarget,
    metadata,
    target,
    status,
    resumes,
    reselects: reselects(input),
    points,
    isByGrant,
    startsAtHead,
  }
}

type StateAfter = Omit<DeliveryState, 'claimedToLogId' | 'windowUntil' | 'leaseOwner'> &
  Pick<WakeSubscription, 'resumeWithDigest'>

/** Returns what a change continues from. A recovery continues before what failed on the way to `degraded`. */
export function stateBefore(
  before: WakeSubscription,
  resumes: boolean,
): Pick<WakeSubscription, 'cursorLogId' | 'lastEmittedLogId'> {
  return (resumes && before.failing) || before
}

/** Returns the state of a subscription after a change. A recovery includes what failed on the way to `degraded`. Source: D5, D30. */
export async function stateAfter(
  tx: Transaction,
  before: WakeSubscription,
  { harnessTarget, target, status, resumes, reselects, startsAtHead }: PlannedChange,
  { coalesceMs, scannedTo }: { readonly coalesceMs: number; readonly scannedTo: number },
): Promise<StateAfter> {
  const from = stateBefore(before, resumes)
  const cursor = { startsAtHead: startsAtHead || target.closesIdle, reselects }
  // A recovery is a new emission even where it covers what a failed one covered; so is what other filters select.
  const isNewGeneration = resumes || reselects || startsAtHead || target.opensChannel
  return {
    status,
    reason: reasonAfter(before, status, resumes),
    failedInARow: resumes ? 0 : before.failedInARow,
    failing: resumes || startsAtHead ? null : before.failing,
    lastEmittedLogId: from.lastEmittedLogId,
    cursorLogId: await cursorAfter(tx, { ...before, cursorLogId: from.cursorLogId }, cursor, scannedTo),
    generation: before.generation + (isNewGeneration ? 1 : 0),
    generationAt: isNewGeneration ? tx.now : before.generationAt,
    resumeWithDigest: !startsAtHead && (resumes || target.opensChannel || before.resumeWithDigest),
    dueAt: status === 'active' && !startsAtHead ? nextDueAt(before, harnessTarget, coalesceMs, tx.now) : null,
  }
}

function reasonAfter(before: WakeSubscription, status: SubscriptionStatus, resumes: boolean): string | null {
  if (status === 'waiting') return notConnected
  return resumes || before.status === 'waiting' ? null : before.reason
}

/** A client decides its own settings. Its subscription may be paused, and made active again. */
function requireOwnSettings({ harnessTarget }: WakeSubscription, { status: _, ...settings }: UpdateInput): void {
  const [field] = Object.keys(settings)
  if (!targets[harnessTarget].isOfClient || field === undefined) return
  throw new Problem('invalid-request', {
    field,
    detail: `${field}: the client of MCP that made this subscription decides this, with events/subscribe. Only its status can be changed here; or remove it.`,
  })
}

function keyIsTheOwners(): Problem {
  return new Problem('forbidden', {
    field: 'rotateSigningKey',
    detail: 'rotateSigningKey: only the owner of the subscription may rotate its signing key.',
    remedy: 'leave-out',
  })
}

function requireTransition(from: SubscriptionStatus, to: SubscriptionStatus): void {
  if (mayBecome(from, to)) return
  throw new Problem('invalid-request', {
    field: 'status',
    detail: `status: a ${from} subscription can become ${subscriptionTransitions[from].join(' or ')}.`,
  })
}

/** The effects of another target on a subscription. */
interface ChangeOfTarget {
  readonly isOther: boolean
  /** True: the events that waited in front of the cursor can be sent from now on, as one digest. */
  readonly opensChannel: boolean
  /** Everything was looked at and nothing more is sent: the cursor waits at the head of the log for a channel. */
  readonly closesIdle: boolean
  /** The target is signed, and there is no key. */
  readonly needsKey: boolean
}

/** True when anything is sent for a subscription: its target has a channel, and that is connected where it has to be. */
function isSentFor({ harnessTarget, status }: WakeSubscription): boolean {
  return isDeliverable(harnessTarget) && status !== 'waiting'
}

/** Returns what it changes for a subscription when its wakes go to `harnessTarget` from now on, and it has a status. Pure. Source: D24. */
function changeOfTarget(
  before: WakeSubscription,
  harnessTarget: HarnessTarget,
  status: SubscriptionStatus,
): ChangeOfTarget {
  const isOther = harnessTarget !== before.harnessTarget
  return {
    isOther,
    opensChannel: !isSentFor(before) && isDeliverable(harnessTarget) && isOther,
    closesIdle: isIdle(before) && (!isDeliverable(harnessTarget) || status === 'waiting'),
    needsKey: targets[harnessTarget].isSigned && before.signingKey === null,
  }
}
