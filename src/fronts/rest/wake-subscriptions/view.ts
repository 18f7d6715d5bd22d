import type { Caller } from '../../../registry/callers/caller.ts'
import { signingFormerKeys } from '../../../registry/subscriptions/former-keys.ts'
import { notConnected, type SubscriptionStatus } from '../../../registry/subscriptions/status.ts'
import {
  type Filters,
  isOvertaken,
  type WakeSubscription,
  type WakeTarget,
} from '../../../registry/subscriptions/subscription.ts'
import type { TestedWake } from '../../../subscriptions/send-test.ts'
import { type Attempt, attemptFor } from '../../../wakes/channel.ts'
import type { UnsentEvent } from '../../../wakes/read/non-wakes.ts'
import { messageIdOf } from '../../../wakes/rules/match.ts'
import type { WakeStep } from '../../../wakes/rules/wake-history.ts'
import type { Delivery, DeliveryOutcome } from '../../../wakes/store/delivery-store.ts'
import type { Retrying } from '../../../wakes/store/retrying-store.ts'
import type { EventType, Trigger } from '../../../words/events.ts'
import type { PresenceState } from '../../../words/presence.ts'
import type { ReceiptStep } from '../../../words/receipts.ts'
import { reasonIn, sourceKind } from '../../../words/sender-view.ts'
import { type HarnessTarget, targets } from '../../../words/targets.ts'
import { instant } from '../instant.ts'

/** A wake subscription as its owner sees it, without its key. Instants are ISO 8601. */
export interface SubscriptionView {
  readonly subscriptionId: string
  /** `@donna` */
  readonly agentIdentity: string
  readonly trigger: Trigger
  readonly filters: Filters
  readonly harnessTarget: HarnessTarget
  /** `coalesceWindow` is in seconds. */
  readonly harnessTargetMetadata: WakeTarget & { readonly coalesceWindow: number }
  readonly status: SubscriptionStatus
  readonly reason: string | null
  readonly sessionId?: string
  /** The capabilities that the reader of its stream names. */
  readonly streamCapabilities?: readonly string[]
  /** Present while its receiver is away and is tried again. */
  readonly retrying?: Retrying
  /** Other subscriptions of its agent that give the same mail a second turn; in a list, those of the same page. */
  readonly overlaps?: readonly string[]
  readonly failedInARow: number
  readonly cursorLogId: number
  /** Present if events after the cursor were pruned: events up to this logId are no longer kept. */
  readonly earliestLogId?: number
  readonly lastEmittedLogId: number | null
  /** Until when the newest former key signs too. */
  readonly previousKeyValidUntil?: string
  /** Of `mcp-webhook`: it ends then unless its client refreshes it. */
  readonly refreshBefore?: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** A new subscription. The signing key is shown only here, and only to its owner and the operator. */
export interface NewSubscriptionView {
  readonly subscriptionId: string
  readonly harnessTarget: HarnessTarget
  readonly signingKey?: string
  /** Other subscriptions of the agent that give the same mail a second turn. */
  readonly overlaps?: readonly string[]
}

export interface ChangedSubscriptionView {
  readonly subscriptionId: string
  readonly currentState: SubscriptionView
  /** After a rotation. */
  readonly signingKey?: string
}

export interface ResyncView {
  readonly subscriptionId: string
  readonly eventsReplayed: number
  readonly lastLogId: number
  readonly countedTo?: number
}

export interface ReplayView {
  readonly subscriptionId: string
  readonly eventsReplayed: number
  readonly earliestLogId?: number
}

export type AttemptView = Omit<Attempt, 'isWithheld'>

/** The answer of the receiver to a test wake. */
export interface TestView {
  readonly eventId: string
  readonly attempt: AttemptView
  /** The strongest step that the reader of a stream has reported; null: none in time. Absent: another channel. */
  readonly reported?: WakeStepView | null
  /** How long the gateway waits for it at most, in seconds. */
  readonly waitsSeconds?: number
}

/** One thing that the reader of a stream said about a wake. Instants are ISO 8601. */
export interface WakeStepView {
  readonly step: ReceiptStep
  /** Where the answer's reader is not the agent itself or its operator: only the kind. */
  readonly source: string | null
  readonly reportedBy: string
  readonly at: string
  readonly detail?: string
  readonly repeats?: number
}

/** The record of one wake. */
export interface DeliveryView {
  readonly eventId: string
  readonly eventType: string
  /** The event, or the first and the last event of a digest. */
  readonly logIds: readonly [number] | readonly [from: number, to: number]
  readonly eventCount: number
  readonly attempts: readonly AttemptView[]
  readonly outcome: DeliveryOutcome
  readonly nextAttemptAt?: string
  /** The highest step that the reader of a stream has reported; null: none. */
  readonly step: ReceiptStep | null
  /** The steps that it has reported, the oldest first. */
  readonly steps?: readonly WakeStepView[]
  readonly createdAt: string
  readonly updatedAt: string
}

/** An event that was not sent, and why. */
export interface HeldView {
  readonly logId: number
  readonly type: EventType
  readonly action: UnsentEvent['action']
  readonly reason: UnsentEvent['reason']
  readonly presence?: PresenceState
  readonly messageId?: string
  readonly taskId?: string
  readonly createdAt: string
}

/** @param prunedTo events up to here are no longer kept */
export function subscriptionView(
  subscription: WakeSubscription,
  agentIdentity: string,
  prunedTo: number,
  now: number,
  retrying: Retrying | undefined,
  overlaps: readonly string[],
): SubscriptionView {
  const [previous] = signingFormerKeys(subscription, now)
  return {
    subscriptionId: subscription.id,
    agentIdentity,
    trigger: subscription.trigger,
    filters: subscription.filters,
    harnessTarget: subscription.harnessTarget,
    harnessTargetMetadata: { ...shownTarget(subscription), coalesceWindow: subscription.coalesceMs / 1000 },
    status: subscription.status,
    reason: shownReason(subscription),
    ...(subscription.sessionId === null ? {} : { sessionId: subscription.sessionId }),
    ...(subscription.streamCapabilities.length === 0 ? {} : { streamCapabilities: subscription.streamCapabilities }),
    ...(retrying === undefined ? {} : { retrying }),
    ...(overlaps.length === 0 ? {} : { overlaps }),
    failedInARow: subscription.failedInARow,
    cursorLogId: subscription.cursorLogId,
    ...(isOvertaken(subscription, prunedTo) ? { earliestLogId: prunedTo } : {}),
    lastEmittedLogId: subscription.lastEmittedLogId,
    ...(previous ? { previousKeyValidUntil: instant(previous.until) } : {}),
    ...(subscription.expiresAt === null ? {} : { refreshBefore: instant(subscription.expiresAt) }),
    createdAt: instant(subscription.createdAt),
    updatedAt: instant(subscription.updatedAt),
  }
}

/** The path of a client's own URL is as good as a secret: its origin says whose it is. */
function shownTarget({ harnessTarget, target }: WakeSubscription): WakeTarget {
  const { url, verifiedAt: _, ...rest } = target
  if (!targets[harnessTarget].isOfClient || url === undefined) return target
  return { ...rest, url: new URL(url).origin }
}

/** A session may be connected that has not agreed to these wakes, or whose log level leaves them out. */
function shownReason({ reason, harnessTarget }: WakeSubscription): string | null {
  const isUnheard = reason === notConnected && harnessTarget === 'mcp-notifications'
  return isUnheard ? 'no MCP session that takes these wakes is connected' : reason
}

/** @param isOwn whether the reader is the agent whose events it is about, or its operator */
export function deliveryView(delivery: Delivery, reader: Caller, isOwn: boolean): DeliveryView {
  const { fromLogId, toLogId, nextAttemptAt, createdAt, updatedAt, attempts, steps, ...rest } = delivery
  return {
    ...rest,
    attempts: attempts.map((attempt) => ({ ...attemptFor(reader, attempt) })),
    logIds: fromLogId === toLogId ? [toLogId] : [fromLogId, toLogId],
    ...(nextAttemptAt === null ? {} : { nextAttemptAt: instant(nextAttemptAt) }),
    ...(steps.length === 0 ? {} : { steps: steps.map((step) => stepView(step, isOwn)) }),
    createdAt: instant(createdAt),
    updatedAt: instant(updatedAt),
  }
}

export function testView({ reported, ...tested }: TestedWake, isOwn: boolean): TestView {
  return { ...tested, ...(reported === undefined ? {} : { reported: reported && stepView(reported, isOwn) }) }
}

function stepView({ detail, source, ...rest }: WakeStep, isOwn: boolean): WakeStepView {
  const shown = isOwn ? detail : reasonIn(detail)
  return { ...rest, source: isOwn ? source : sourceKind(source), ...(shown ? { detail: shown } : {}) }
}

export function heldView({ event, action, reason, presence }: UnsentEvent): HeldView {
  const { logId, type, taskId, createdAt, data } = event
  const messageId = messageIdOf(event) ?? data.messageId
  const taskIdSaid = taskId ?? data.taskId
  return {
    logId,
    type,
    action,
    reason,
    ...(presence === null ? {} : { presence }),
    ...(typeof messageId === 'string' ? { messageId } : {}),
    ...(typeof taskIdSaid === 'string' ? { taskId: taskIdSaid } : {}),
    createdAt: instant(createdAt),
  }
}
