import type { Trigger } from '../../log/event.ts'
import type { Priority } from '../agents/agent.ts'

export const harnessTargets = ['mcp-notifications', 'a2a-webhook', 'bridge-daemon', 'disabled', 'none'] as const
/** How a subscription's wakes travel. It never changes by itself. Source: S1-43, D1. */
export type HarnessTarget = (typeof harnessTargets)[number]

export type SubscriptionStatus = 'active' | 'degraded' | 'paused'

/** Who may follow whom. A removed subscription is gone, so it has no row here. */
export const subscriptionTransitions = {
  active: ['degraded', 'paused'],
  degraded: ['active', 'paused'], // back to active only by hand: D5
  paused: ['active'],
} as const satisfies Record<SubscriptionStatus, readonly SubscriptionStatus[]>

/** Why a push subscription is paused for good: what it tells of has come to its end. */
export const taskFinished = 'task finished'

/** Why a subscription is paused that somebody else pointed somewhere: the grant to manage it was taken back. */
export const grantRevoked = 'grant-revoked'

/** All that is given must hold; a list holds when one of its entries does. Source: S1-43. */
export interface Filters {
  readonly taggedConcepts?: readonly string[]
  readonly priority?: Priority
  readonly senderFilter?: readonly string[]
  readonly inReplyToFilter?: readonly string[]
}

/** Where the wakes go: the part of `harnessTargetMetadata` that is not a column of its own. */
export interface WakeTarget {
  readonly url?: string
  readonly coalesceMode?: 'window' | 'leading'
  readonly daemonSocketPath?: string
  readonly maxInFlight?: number
}

/** Where A2A push notifications go (specification §4.3). Credentials and token are sealed. */
export interface PushTarget {
  readonly url: string
  readonly configId: string
  readonly protocolVersion: '1.0' | '0.3'
  /** Who asked for it, qualified by its project: `default:@donna`. Absent where it was registered before this was kept. */
  readonly registeredBy?: string
  readonly sealedToken?: string
  readonly scheme?: string
  readonly sealedCredentials?: string
}

/** A cursor over the log: whose events, which of them, where they go, how far it has come. */
export interface Subscription {
  readonly id: string
  /** `wake` tells an agent's harness; `push` tells a client about one task. */
  readonly kind: 'wake' | 'push'
  readonly projectId: string
  /** Who owns it: an agent's id, or the id of the caller that asked for pushes. */
  readonly agentId: string
  /** Whose events it ranges over: the agent's id, or the task's. */
  readonly audience: string
  readonly trigger: Trigger | null
  readonly filters: Filters
  readonly harnessTarget: HarnessTarget
  readonly target: WakeTarget | PushTarget
  readonly coalesceMs: number
  readonly signingKey: string | null
  readonly previousKey: string | null
  readonly previousKeyUntil: number | null
  readonly status: SubscriptionStatus
  readonly reason: string | null
  readonly failedInARow: number
  readonly cursorLogId: number
  readonly lastEmittedLogId: number | null
  readonly claimedToLogId: number | null
  readonly generation: number
  readonly generationAt: number
  readonly resumeWithDigest: boolean
  readonly windowUntil: number
  readonly dueAt: number | null
  readonly leaseOwner: string | null
  /** The session that opened it: when that ends, it is paused. */
  readonly sessionId: string | null
  /** The key that made it, or last said where it goes: when that is revoked, it is paused. null: not known. */
  readonly keyId: string | null
  /** The agent that said where it goes, if that is not its owner: without the grant to manage it, it is paused. */
  readonly managedBy: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/**
 * Whether retention may have taken events that a subscription had still to look at: the log begins behind its cursor. One that
 * is idle has looked at everything, wherever its cursor stands.
 */
export function isOvertaken(subscription: Subscription, logTail: number): boolean {
  const { status, dueAt, harnessTarget, cursorLogId } = subscription
  const isIdle = status === 'active' && dueAt === null && isDeliverable(harnessTarget)
  return cursorLogId < logTail && !isIdle
}

/** A cursor that has sent nothing yet: what every new subscription begins with. */
export const unsent = {
  previousKey: null,
  previousKeyUntil: null,
  failedInARow: 0,
  lastEmittedLogId: null,
  claimedToLogId: null,
  generation: 0,
  generationAt: 0,
  resumeWithDigest: false,
  windowUntil: 0,
  dueAt: null,
  leaseOwner: null,
  sessionId: null,
  keyId: null,
  managedBy: null,
} as const satisfies Partial<Subscription>

/** Coalescing in seconds when a subscription does not say. Source: S1-39, D3. */
export const coalesceWindowDefault = 30
export const coalesceWindowMax = 300

/** The targets that this gateway sends to; the others keep their cursor until their channel is there. */
export function isDeliverable(target: HarnessTarget): boolean {
  return target === 'a2a-webhook'
}
