import { Problem } from '../errors.ts'
import { newSubscriptionId } from '../lib/ids.ts'
import { operatorAudience } from '../log/event.ts'
import { lockLog } from '../log/event-store.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { requireAgent } from '../registry/agents/agents.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireRoom } from '../registry/callers/caller-limits.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { isGrantee, managerOf, requireMayManage } from '../registry/permissions/grants.ts'
import { parkedUntilOf } from '../registry/recovery/recovery-store.ts'
import { newestLiveSession } from '../registry/sessions/session-lists.ts'
import { notConnected } from '../registry/subscriptions/status.ts'
import { type Filters, initialWakeState, type WakeSubscription } from '../registry/subscriptions/subscription.ts'
import {
  countSubscriptions,
  insertSubscription,
  listAnnouncing,
  listSubscriptions,
} from '../registry/subscriptions/subscription-store.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { isAnnounced, mayAnnounce } from '../wakes/rules/announcers.ts'
import { overlapsOf } from '../wakes/rules/overlaps.ts'
import { announceWaiting } from '../wakes/store/announce-waiting.ts'
import { operatorTriggers, signalTriggers, type Trigger } from '../words/events.ts'
import { type HarnessTarget, liveStatus, targets } from '../words/targets.ts'
import type { SubscriptionContext } from './context.ts'
import { requireFilterSize } from './filter-size.ts'
import { subscriptionEvent } from './subscription-event.ts'
import { defaultTarget, requireTarget, subjectsFor, type TargetMetadata, targetSettings } from './target-input.ts'

interface SubscribeInput {
  trigger: Trigger
  filters?: Filters
  harnessTarget?: HarnessTarget
  harnessTargetMetadata?: TargetMetadata
  /** For the operator, who has no subscriptions of its own. */
  agentIdentity?: string
  /** The live session that opens it: when that ends, the subscription is paused. */
  sessionId?: string
  /** `now`: nothing is sent about what waits already. Source: D29. */
  startFrom?: 'now' | undefined
}

/** The answer to who subscribes. `overlaps`: others of the agent that give the same mail a second turn. */
interface NewSubscription {
  readonly subscriptionId: string
  readonly harnessTarget: HarnessTarget
  readonly signingKey?: string
  readonly overlaps?: readonly string[]
}

/** A harness gets the answer, and with it the signing key, before the first wake. */
const announceAfterMs = 1_000

/**
 * Makes a subscription that starts after the head of the log. What waits already, unread mail and open tasks, comes as one digest
 * after a second, unless it starts from `now`. Without a channel that is connected it is `waiting`. Returns the signing key once, to
 * the operator and to the agent that owns the subscription. A grantee does not get it: the owner rotates the key to get one.
 * Errors: `agent-not-found`, `forbidden`, `limit-exceeded`, `session-not-found`, `invalid-request`, `payload-too-large`, `url-not-allowed`.
 * Source: S1-36, S1-44, D21, D28, D29.
 */
export async function subscribe(
  context: SubscriptionContext,
  caller: Caller,
  input: SubscribeInput,
): Promise<NewSubscription> {
  const { trigger, filters = {}, harnessTargetMetadata: metadata = {}, sessionId, startFrom } = input
  const harnessTarget = input.harnessTarget ?? defaultTarget(metadata)
  requireFilterSize(filters)
  requireTarget(context, harnessTarget, metadata)
  const result = await context.db.transaction(async (tx) => {
    const agentId = await ownerId(tx, caller, trigger, input.agentIdentity)
    if (agentId !== operatorAudience && !(await lockAgent(tx, agentId))) {
      throw new Problem('agent-not-found', { detail: 'The agent was removed meanwhile.' })
    }
    await requireLiveKey(tx, caller)
    requireRoom(caller, 'subscriptions', await countSubscriptions(tx, agentId), 'Remove those that are not in use.')
    if (sessionId !== undefined) await requireSessionOf(tx, agentId, sessionId)
    const id = newSubscriptionId()
    const signingKey = targets[harnessTarget].isSigned ? context.newSigningKey() : undefined
    const subscription: WakeSubscription = {
      ...initialWakeState,
      id,
      kind: 'wake',
      projectId: caller.projectId,
      agentId,
      audience: agentId,
      trigger,
      filters,
      harnessTarget,
      ...targetSettings({ ...metadata, ...subjectsFor(caller) }),
      signingKey: signingKey ? context.secrets.seal(signingKey, id) : null,
      status: liveStatus(harnessTarget, null),
      reason: targets[harnessTarget].connects ? notConnected : null,
      cursorLogId: await lockLog(tx, caller.projectId),
      sessionId: sessionId ?? null,
      keyId: caller.keyId,
      managedBy: managerOf(caller, agentId),
      parkedUntil: await parkedUntilOf(tx, agentId),
      createdAt: tx.now,
      updatedAt: tx.now,
    }
    await insertSubscription(tx, subscription)
    if (startFrom !== 'now') await announceWhatWaits(context, tx, caller, subscription)
    await context.append(tx, caller.projectId, [
      subscriptionEvent('subscription.created', caller, { id, agentId }, { harnessTarget }),
    ])
    const getsKey = signingKey !== undefined && !isGrantee(caller, agentId)
    const overlaps = overlapsOf(subscription, await listSubscriptions(tx, agentId))
    return {
      subscriptionId: id,
      harnessTarget,
      ...(getsKey ? { signingKey } : {}),
      ...(overlaps.length === 0 ? {} : { overlaps }),
    }
  })
  context.changed(result.subscriptionId)
  return result
}

/** A grantee is sent nothing from before. Of several subscriptions of one target, one reports what waits. Source: D21, D29. */
async function announceWhatWaits(
  { hasWaiting }: SubscriptionContext,
  tx: Transaction,
  caller: Caller,
  subscription: WakeSubscription,
): Promise<void> {
  const { id, agentId } = subscription
  if (!mayAnnounce(subscription) || isGrantee(caller, agentId) || !(await hasWaiting(tx, agentId))) return
  if (isAnnounced(subscription, await listAnnouncing(tx, agentId))) return
  await announceWaiting(tx, id, tx.now + announceAfterMs)
}

/** The triggers of an operator's own subscriptions: the status of its mail, its tasks, the signals of the engine, and what waits for it. */
const ofOperator: readonly Trigger[] = [
  'MESSAGE_STATUS_CHANGED',
  'WAKE_RECEIPT',
  'TASK_STATE_CHANGED',
  ...signalTriggers,
  ...operatorTriggers,
]

async function ownerId(
  db: Reader,
  caller: Caller,
  trigger: Trigger,
  agentIdentity: string | undefined,
): Promise<string> {
  const isOperatorsOwn = caller.kind === 'operator' && agentIdentity === undefined
  if ((operatorTriggers as readonly Trigger[]).includes(trigger) && !isOperatorsOwn) {
    throw new Problem('invalid-request', {
      field: 'trigger',
      detail: `trigger: ${trigger} is for operators, who subscribe with their own key and without agentIdentity.`,
    })
  }
  if (agentIdentity === undefined) {
    if (caller.kind === 'agent') return caller.id
    if (ofOperator.includes(trigger)) return operatorAudience
    throw new Problem('invalid-request', {
      field: 'agentIdentity',
      detail: `agentIdentity: an operator must name the agent of the subscription, unless the trigger is one of ${ofOperator.join(', ')}, which are about what the operator itself sent and got, and what waits for it. With an agent's key, agentIdentity is not needed.`,
    })
  }
  const agent = await requireAgent(db, caller.projectId, agentIdentity)
  await requireMayManage(db, caller, agent)
  return agent.id
}

async function requireSessionOf(db: Reader, agentId: string, sessionId: string): Promise<void> {
  if ((await newestLiveSession(db, agentId))?.id === sessionId) return
  throw new Problem('session-not-found', {
    field: 'sessionId',
    detail: `sessionId: ${sessionId} is not a live session of the subscription's agent. Without a sessionId the subscription stays until it is removed.`,
  })
}
