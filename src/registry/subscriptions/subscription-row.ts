import { sql } from '../../storage/statement.ts'
import type { Trigger } from '../../words/events.ts'
import type { HarnessTarget } from '../../words/targets.ts'
import type { FormerKey } from './former-keys.ts'
import type { SubscriptionStatus } from './status.ts'
import type { StreamCapability } from './stream-capabilities.ts'
import type {
  DeliveryState,
  Failing,
  Filters,
  PushSubscription,
  PushTarget,
  Subscription,
  WakeSubscription,
  WakeTarget,
} from './subscription.ts'

export interface SubscriptionRow {
  id: string
  kind: string
  projectId: string
  agentId: string
  audience: string
  trigger: string | null
  filters: string
  harnessTarget: string
  target: string
  coalesceMs: number
  signingKey: string | null
  formerKeys: string
  status: string
  reason: string | null
  failedInARow: number
  cursorLogId: number
  lastEmittedLogId: number | null
  failingCursorLogId: number | null
  failingEmittedLogId: number | null
  claimedToLogId: number | null
  generation: number
  generationAt: number
  resumeWithDigest: number
  announcesWaiting: number
  announcesHeld: number
  windowUntil: number
  dueAt: number | null
  parkedUntil: number | null
  leaseOwner: string | null
  sessionId: string | null
  keyId: string | null
  managedBy: string | null
  streamId: string | null
  streamGateway: string | null
  streamCapabilities: string
  mcpId: string | null
  expiresAt: number | null
  hasGap: number
  createdAt: number
  updatedAt: number
}

/** Every column under the name that the code uses, for `select` and `returning`. */
export const subscriptionColumns =
  sql.raw(`id, kind, project_id as "projectId", agent_id as "agentId", audience, trigger, filters,
  harness_target as "harnessTarget", target, coalesce_ms as "coalesceMs", signing_key as "signingKey", former_keys as "formerKeys",
  status, reason, failed_in_a_row as "failedInARow", cursor_log_id as "cursorLogId",
  last_emitted_log_id as "lastEmittedLogId", failing_cursor_log_id as "failingCursorLogId",
  failing_emitted_log_id as "failingEmittedLogId", claimed_to_log_id as "claimedToLogId", generation, generation_at as "generationAt",
  resume_with_digest as "resumeWithDigest", window_until as "windowUntil", due_at as "dueAt", parked_until as "parkedUntil", lease_owner as "leaseOwner",
  announces_waiting as "announcesWaiting", announces_held as "announcesHeld", stream_id as "streamId", stream_gateway as "streamGateway", stream_capabilities as "streamCapabilities",
  session_id as "sessionId", key_id as "keyId", managed_by as "managedBy", mcp_id as "mcpId", expires_at as "expiresAt", has_gap as "hasGap", created_at as "createdAt", updated_at as "updatedAt"`)

export function subscriptionFromRow(row: SubscriptionRow): Subscription {
  return row.kind === 'push' ? pushFromRow(row) : wakeFromRow(row)
}

export function wakeFromRow({ failingCursorLogId, failingEmittedLogId, ...row }: SubscriptionRow): WakeSubscription {
  return {
    failing: failingFrom(failingCursorLogId, failingEmittedLogId),
    ...row,
    kind: 'wake',
    trigger: row.trigger as Trigger,
    filters: JSON.parse(row.filters) as Filters,
    harnessTarget: row.harnessTarget as HarnessTarget,
    target: JSON.parse(row.target) as WakeTarget,
    formerKeys: JSON.parse(row.formerKeys) as FormerKey[],
    status: row.status as SubscriptionStatus,
    resumeWithDigest: row.resumeWithDigest === 1,
    announcesWaiting: row.announcesWaiting === 1,
    hasGap: row.hasGap > 0,
    streamCapabilities: JSON.parse(row.streamCapabilities) as StreamCapability[],
  }
}

export function pushFromRow(row: SubscriptionRow): PushSubscription {
  const { id, projectId, agentId, audience, target, keyId, createdAt, updatedAt } = row
  return {
    id,
    kind: 'push',
    projectId,
    agentId,
    audience,
    target: JSON.parse(target) as PushTarget,
    ...stateOf(row),
    keyId,
    createdAt,
    updatedAt,
  }
}

function stateOf(row: SubscriptionRow): DeliveryState {
  const { reason, failedInARow, cursorLogId, lastEmittedLogId, claimedToLogId } = row
  const { generation, generationAt, windowUntil, dueAt, leaseOwner } = row
  return {
    status: row.status as SubscriptionStatus,
    reason,
    failedInARow,
    cursorLogId,
    lastEmittedLogId,
    failing: failingFrom(row.failingCursorLogId, row.failingEmittedLogId),
    claimedToLogId,
    generation,
    generationAt,
    windowUntil,
    dueAt,
    leaseOwner,
  }
}

/** The values of a push subscription in the columns that only wake subscriptions use. */
function failingFrom(cursorLogId: number | null, lastEmittedLogId: number | null): Failing | null {
  return cursorLogId === null ? null : { cursorLogId, lastEmittedLogId }
}

const noWake = {
  trigger: null,
  filters: '{}',
  harnessTarget: 'a2a-webhook',
  coalesceMs: 0,
  signingKey: null,
  formerKeys: '[]',
  resumeWithDigest: 0,
  announcesWaiting: 0,
  announcesHeld: 0,
  streamId: null,
  streamGateway: null,
  streamCapabilities: '[]',
  sessionId: null,
  managedBy: null,
  parkedUntil: null,
  mcpId: null,
  expiresAt: null,
  hasGap: 0,
} as const satisfies Partial<SubscriptionRow>

export function toRow({ failing, ...subscription }: Subscription): SubscriptionRow {
  const failed = {
    failingCursorLogId: failing?.cursorLogId ?? null,
    failingEmittedLogId: failing?.lastEmittedLogId ?? null,
  }
  if (subscription.kind === 'push') {
    return { ...subscription, ...failed, ...noWake, target: JSON.stringify(subscription.target) }
  }
  return {
    ...subscription,
    ...failed,
    filters: JSON.stringify(subscription.filters),
    target: JSON.stringify(subscription.target),
    formerKeys: JSON.stringify(subscription.formerKeys),
    resumeWithDigest: subscription.resumeWithDigest ? 1 : 0,
    announcesWaiting: subscription.announcesWaiting ? 1 : 0,
    hasGap: subscription.hasGap ? 1 : 0,
    streamCapabilities: JSON.stringify(subscription.streamCapabilities),
  }
}
