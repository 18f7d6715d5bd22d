import { logBounds } from '../../log/event-store.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { type FormerKey, formerKeysMax, signingFormerKeys } from '../../registry/subscriptions/former-keys.ts'
import { refreshMcpSubscription } from '../../registry/subscriptions/mcp-store.ts'
import { isIdle, isOvertaken, type WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { changeSettings } from '../../registry/subscriptions/subscription-store.ts'
import { secretsEqual } from '../../security/secret.ts'
import type { Transaction } from '../../storage/database.ts'
import { changeState } from '../../wakes/store/change-state.ts'
import { mcpEventCursor } from '../../words/mcp-events.ts'
import type { SubscriptionContext } from '../context.ts'
import { subscriptionEvent } from '../subscription-event.ts'
import { subjectsFor } from '../target-input.ts'

/** How long a former secret signs beside the new one. */
const overlapMs = 5 * 60_000

interface Refresh {
  readonly secret: string
  readonly verifiedAt: number
}

/** A refreshed subscription, as it is answered. */
interface Refreshed {
  /** Its id on the gateway. */
  readonly id: string
  readonly refreshBefore: string
  readonly cursor: string
  readonly truncated: boolean
}

/**
 * Has a live subscription live until `expiresAt` (ms since the epoch). Its cursor stays. A degraded one becomes active again; another secret
 * signs from now on, and the former one for five minutes more.
 */
export async function refreshed(
  context: SubscriptionContext,
  tx: Transaction,
  caller: Caller,
  before: WakeSubscription,
  { secret, verifiedAt }: Refresh,
  expiresAt: number,
): Promise<Refreshed> {
  const { id, projectId, hasGap } = before
  // Before its cursor: an event that comes between the two makes it due.
  const { head, prunedTo } = await logBounds(tx, projectId)
  const { withoutSubjects: _, ...target } = before.target
  const after = { ...before, target: { ...target, verifiedAt, ...subjectsFor(caller) } }
  const keys = keysAfter(context, before, secret, tx.now)
  if (keys) await changeSettings(tx, before, { ...after, ...keys, keyId: caller.keyId })
  if (keys || before.status === 'degraded') {
    await changeState(tx, before, { ...before, ...revived(before, tx.now) })
    if (before.status === 'degraded') {
      const { reason } = before
      const about = { agent: caller.identity, reason }
      await context.append(tx, projectId, [subscriptionEvent('subscription.recovered', caller, before, about)])
    }
  }
  await refreshMcpSubscription(tx, after, { expiresAt, keyId: caller.keyId })
  return {
    id,
    refreshBefore: new Date(expiresAt).toISOString(),
    cursor: mcpEventCursor(projectId, isIdle(before) ? Math.max(head, before.cursorLogId) : before.cursorLogId),
    // Events that it had still to look at may be kept no more.
    truncated: hasGap || isOvertaken(before, prunedTo),
  }
}

/** Returns the state of a subscription whose lease ends: what was being sent is looked at again. */
function revived(
  before: WakeSubscription,
  now: number,
): Pick<
  WakeSubscription,
  'status' | 'reason' | 'failedInARow' | 'failing' | 'cursorLogId' | 'lastEmittedLogId' | 'dueAt'
> {
  const { status, reason, failedInARow, failing, cursorLogId, lastEmittedLogId } = before
  if (status !== 'degraded') {
    const dueAt = status === 'active' && !isIdle(before) ? now : null
    return { status, reason, failedInARow, failing, cursorLogId, lastEmittedLogId, dueAt }
  }
  const from = failing ?? before
  return {
    status: 'active',
    reason: null,
    failedInARow: 0,
    failing: null,
    cursorLogId: from.cursorLogId,
    lastEmittedLogId: from.lastEmittedLogId,
    dueAt: now,
  }
}

/** Returns the columns of the keys; undefined: the secret is the same. */
function keysAfter(
  { secrets }: Pick<SubscriptionContext, 'secrets'>,
  before: WakeSubscription,
  secret: string,
  now: number,
): { readonly signingKey: string; readonly formerKeys: readonly FormerKey[] } | undefined {
  const { id, signingKey } = before
  if (signingKey !== null && secretsEqual(secrets.open(signingKey, id), secret)) return undefined
  const previous = signingKey === null ? [] : [{ key: signingKey, until: now + overlapMs }]
  const formerKeys = [...previous, ...signingFormerKeys(before, now)].slice(0, formerKeysMax)
  return { signingKey: secrets.seal(secret, id), formerKeys }
}
