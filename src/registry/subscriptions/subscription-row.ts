import type { RowOf } from '../../storage/columns.ts'
import { RowTable } from '../../storage/row-table.ts'
import type { Trigger } from '../../words/events.ts'
import {
  type Failing,
  initialWakeState,
  type PushSubscription,
  type PushTarget,
  type Subscription,
  subscriptionFields,
  type WakeSubscription,
  type WakeTarget,
} from './subscription.ts'

export type SubscriptionRow = RowOf<typeof subscriptionFields>

export const subscriptions = new RowTable('subscription', subscriptionFields)
/** Every column under the name that the code uses, for `select` and `returning`. */
export const subscriptionColumns = subscriptions.columns

export function subscriptionFromRow(row: SubscriptionRow): Subscription {
  return row.kind === 'push' ? pushFromRow(row) : wakeFromRow(row)
}

export function wakeFromRow(row: SubscriptionRow): WakeSubscription {
  const wake = subscriptions.fromRow(row)
  // The two columns of its failures stay in it: a copy without them takes a microsecond.
  return {
    failing: failingFrom(wake.failingCursorLogId, wake.failingEmittedLogId),
    ...wake,
    kind: 'wake',
    trigger: wake.trigger as Trigger,
    target: wake.target as WakeTarget,
  }
}

export function pushFromRow(row: SubscriptionRow): PushSubscription {
  const { id, projectId, agentId, audience, target, keyId, createdAt, updatedAt, ...state } = row
  const { status, reason, failedInARow, cursorLogId, lastEmittedLogId, claimedToLogId } = state
  const { generation, generationAt, windowUntil, dueAt, leaseOwner } = state
  return {
    id,
    kind: 'push',
    projectId,
    agentId,
    audience,
    target: JSON.parse(target) as PushTarget,
    status,
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
    keyId,
    createdAt,
    updatedAt,
  }
}

function failingFrom(cursorLogId: number | null, lastEmittedLogId: number | null): Failing | null {
  return cursorLogId === null ? null : { cursorLogId, lastEmittedLogId }
}

/** The values of a push subscription in the columns that only wake subscriptions use. */
const noWake = {
  ...initialWakeState,
  trigger: null,
  filters: {},
  harnessTarget: 'a2a-webhook',
  coalesceMs: 0,
  signingKey: null,
  sessionId: null,
  managedBy: null,
} as const

export function toRow({ failing, ...subscription }: Subscription): SubscriptionRow {
  return subscriptions.toRow({
    ...noWake,
    ...subscription,
    failingCursorLogId: failing?.cursorLogId ?? null,
    failingEmittedLogId: failing?.lastEmittedLogId ?? null,
  })
}
