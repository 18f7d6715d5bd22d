import { flag, int, json, type NounOf, nullable, text, word } from '../../storage/columns.ts'
import type { Trigger } from '../../words/events.ts'
import type { McpEventChoice } from '../../words/mcp-events.ts'
import type { Priority } from '../../words/policies.ts'
import { type HarnessTarget, isDeliverable } from '../../words/targets.ts'
import type { FormerKey } from './former-keys.ts'
import type { SubscriptionStatus } from './status.ts'
import type { StreamCapability } from './stream-capabilities.ts'

/** Every filter that is given must hold; a list holds when one of its entries does. Source: S1-43. */
export interface Filters {
  readonly taggedConcepts?: readonly string[]
  readonly priority?: Priority
  readonly senderFilter?: readonly string[]
  readonly inReplyToFilter?: readonly string[]
}

/** Where wakes go: the part of `harnessTargetMetadata` that has no column of its own. */
export interface WakeTarget {
  readonly url?: string
  /** Default: `leading`. Source: D25. */
  readonly coalesceMode?: 'window' | 'leading'
  readonly daemonSocketPath?: string
  /** The program that reads its stream, in its own words: `rouse bridge`. */
  readonly reader?: string
  readonly maxInFlight?: number
  /** True: its agent is woken by its own acts too. Source: D17. */
  readonly includeOwn?: boolean
  /** How long a receiver may be away before an event fails, in seconds. Source: D31. */
  readonly retryForSeconds?: number
  /** True: the gateway tries its receiver while it is degraded. Default: true. Source: D37. */
  readonly probe?: boolean
  /** A key without the scope `read` has said where it goes: its wakes have ids and counts, and no subjects. Source: D46. */
  readonly withoutSubjects?: true
  /** Of `mcp-webhook`: the events that its client has chosen. */
  readonly mcpEvent?: McpEventChoice
  /** Of `mcp-webhook`: when its receiver last proved that it wants the events, ms since the epoch. */
  readonly verifiedAt?: number
}

/** Where A2A push notifications go (specification §4.3). Credentials and token are sealed. */
export interface PushTarget {
  readonly url: string
  readonly configId: string
  readonly protocolVersion: '1.0' | '0.3'
  /** The caller that registered it, qualified by its project: `default:@donna`. Absent in configs from before this was stored. */
  readonly registeredBy?: string
  readonly sealedToken?: string
  readonly scheme?: string
  readonly sealedCredentials?: string
}

/** Where a subscription was before the first of its failures in a row. */
export interface Failing {
  readonly cursorLogId: number
  readonly lastEmittedLogId: number | null
}

export const subscriptionFields = {
  id: text,
  kind: word<'wake' | 'push'>(),
  projectId: text,
  /** The agent that owns it, or the caller that requested a push config. */
  agentId: text,
  /** The agent whose events it reads, or the task of a push config. */
  audience: text,
  /** null: it is a push config. */
  trigger: nullable(word<Trigger>()),
  filters: json<Filters>(),
  harnessTarget: word<HarnessTarget>(),
  target: json<WakeTarget | PushTarget>(),
  coalesceMs: int,
  signingKey: nullable(text),
  /** The keys before it that may still sign, the newest first. */
  formerKeys: json<readonly FormerKey[]>(),
  status: word<SubscriptionStatus>(),
  reason: nullable(text),
  failedInARow: int,
  /** Everything up to this logId is done with. */
  cursorLogId: int,
  lastEmittedLogId: nullable(int),
  failingCursorLogId: nullable(int),
  failingEmittedLogId: nullable(int),
  /** The end of the range that was leased: a digest that is sent again after a crash covers the same events. */
  claimedToLogId: nullable(int),
  /** Counts resyncs and recoveries: part of every `eventId`, so that what is sent again is a new emission. */
  generation: int,
  generationAt: int,
  /** After a recovery: what gathered meanwhile is sent as one digest. */
  resumeWithDigest: flag,
  /** The next digest also has the unread mail and the open tasks from before the cursor. Source: D29. */
  announcesWaiting: flag,
  /** The generation in which what presence held was released: the next digest has it too. 0: nothing was. Source: S1-10…S1-13. */
  announcesHeld: int,
  windowUntil: int,
  dueAt: nullable(int),
  /** Nothing is sent before: its agent is at a limit of its harness. ms since the epoch. Source: D50. */
  parkedUntil: nullable(int),
  leaseOwner: nullable(text),
  /** The session that opened it: when that ends, it is paused. */
  sessionId: nullable(text),
  /** The key that made it, or last set where it goes: when that is revoked, it ends. null: not known. */
  keyId: nullable(text),
  /** The agent that set where it goes, if that is not its owner: without the grant to manage it, it is paused. */
  managedBy: nullable(text),
  /** The stream that its wakes are written to; null: none is connected. */
  streamId: nullable(text),
  /** The gateway of that stream: no other one sends for it. */
  streamGateway: nullable(text),
  /** The capabilities that the reader of that stream names. */
  streamCapabilities: json<readonly StreamCapability[]>(),
  /** Of `mcp-webhook`: the id that its client knows, derived from what it chose; null: another target. */
  mcpId: nullable(text),
  /** It ends then unless its client refreshes it, ms since the epoch; null: it does not end by itself. */
  expiresAt: nullable(int),
  /** Events were given up, or are kept no more, since its client's last refresh. */
  hasGap: flag,
  createdAt: int,
  updatedAt: int,
}
type StoredSubscription = NounOf<typeof subscriptionFields>

/** Wakes an agent's harness. */
export interface WakeSubscription
  extends Omit<StoredSubscription, 'kind' | 'trigger' | 'target' | 'failingCursorLogId' | 'failingEmittedLogId'> {
  readonly kind: 'wake'
  readonly trigger: Trigger
  readonly target: WakeTarget
  /** Where the failures in a row began; null: the last event arrived. A recovery begins there. Source: D30. */
  readonly failing: Failing | null
}

/** The progress of a subscription and its lease. Only `src/wakes/store` changes it. */
export type DeliveryState = Pick<
  WakeSubscription,
  | 'status'
  | 'reason'
  | 'failedInARow'
  | 'cursorLogId'
  | 'lastEmittedLogId'
  | 'failing'
  | 'claimedToLogId'
  | 'generation'
  | 'generationAt'
  | 'windowUntil'
  | 'dueAt'
  | 'leaseOwner'
>

/** Sends A2A push notifications about one task to a client. */
export interface PushSubscription
  extends DeliveryState,
    Pick<StoredSubscription, 'id' | 'projectId' | 'agentId' | 'audience' | 'keyId' | 'createdAt' | 'updatedAt'> {
  readonly kind: 'push'
  readonly target: PushTarget
}

/** A cursor over the log: whose events, which of them, where they go, how far it has come. */
export type Subscription = WakeSubscription | PushSubscription

/** The state of a new subscription, but for its status and cursor. */
export const initialState = {
  failedInARow: 0,
  lastEmittedLogId: null,
  failing: null,
  claimedToLogId: null,
  generation: 0,
  generationAt: 0,
  windowUntil: 0,
  dueAt: null,
  leaseOwner: null,
} as const satisfies Partial<DeliveryState>

/** The state of a new wake subscription. */
export const initialWakeState = {
  ...initialState,
  formerKeys: [],
  resumeWithDigest: false,
  announcesWaiting: false,
  announcesHeld: 0,
  streamId: null,
  streamGateway: null,
  streamCapabilities: [],
  parkedUntil: null,
  mcpId: null,
  expiresAt: null,
  hasGap: false,
} as const satisfies Partial<WakeSubscription>

/** True when a subscription waits for its next event: everything before it was looked at. */
export function isIdle({ status, dueAt, harnessTarget }: WakeSubscription): boolean {
  return status === 'active' && dueAt === null && isDeliverable(harnessTarget)
}

/**
 * True when retention may have removed events that a subscription had still to look at. An idle one has looked at everything,
 * wherever its cursor stands.
 */
export function isOvertaken(subscription: WakeSubscription, prunedTo: number): boolean {
  return subscription.cursorLogId < prunedTo && !isIdle(subscription)
}
