import type { NewEvent } from '../../log/event.ts'
import { gatewayIdentity } from '../../registry/agents/identity.ts'
import type { EventType } from '../../words/events.ts'
import { targets } from '../../words/targets.ts'
import type { DeliveryResult } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import type { FailureStep } from '../rules/after-delivery.ts'
import { audienceOf } from '../rules/signal-audience.ts'
import { saveDelivery } from '../store/delivery-store.ts'
import { advanceCursor, keepFailing, noteGap } from '../store/lease-progress.ts'
import { degradeSubscription } from '../store/subscription-state.ts'
import type { Run } from './run.ts'

/** Records a delivery that failed, with all that follows from it, in one transaction. A lost lease records nothing. */
export async function recordFailure(
  run: Run,
  emission: Emission,
  result: DeliveryResult,
  step: FailureStep,
): Promise<void> {
  const { context, subscription, lease } = run
  const { id: subscriptionId, projectId } = subscription
  const keepsCursor = subscription.kind === 'wake' && targets[subscription.harnessTarget].keepsCursor
  await context.recorder.settled(lease)
  const before = lease.progress
  const isOurs = await context.db.transaction(async (tx) => {
    if (!(await advanceCursor(tx, lease, step.progress))) return false
    if (step.progress.failedInARow > 0) await keepFailing(tx, lease, before)
    if (keepsCursor) await noteGap(tx, subscriptionId)
    await saveDelivery(tx, { subscriptionId, emission, attempts: result.attempts }, step.outcome)
    if (step.next === 'degrade') await degradeSubscription(tx, lease, step.reason)
    await context.append(tx, projectId, failureEvents(run, emission, result, step))
    return true
  })
  if (isOurs) context.recorder.counted(subscriptionId)
  lease.advance(step.progress)
  if (!isOurs || step.next === 'degrade') lease.lose()
  if (!isOurs) return
  const { log } = context
  const { eventId } = emission
  log.warn({ ...about(run), eventId, attempts: result.attempts.length, reason: result.reason }, 'wake.given_up')
  if (step.next === 'degrade') log.warn({ ...about(run), reason: step.reason }, 'subscription.degraded')
}

function failureEvents(
  { subscription, identity }: Run,
  { eventId, logId }: Emission,
  { reason }: DeliveryResult,
  step: FailureStep,
): NewEvent[] {
  const { id: subscriptionId, agentId } = subscription
  const about = { subscriptionId, agent: identity }
  const by = (type: EventType) => ({ type, actor: gatewayIdentity, audience: audienceOf(type, agentId) })
  // A failed wake about a failed wake wakes nobody: two subscriptions that fail would wake each other without end.
  const isAboutFailure = subscription.kind === 'wake' && subscription.trigger === 'WAKE_FAILED'
  const failed = {
    ...by('wake.failed'),
    ...(isAboutFailure && { audience: [] }),
    data: { ...about, eventId, logId, reason },
  }
  if (step.next !== 'degrade') return [failed]
  return [failed, { ...by('subscription.degraded'), data: { ...about, reason: step.reason } }]
}

/** Whose wake it was. For push notifications the log is the only place to see it: A2A has no field for a config's health. */
function about({ subscription, identity }: Run): object {
  const { id: subscriptionId, kind, projectId: project, audience, target } = subscription
  return {
    subscriptionId,
    agent: identity,
    project,
    ...(kind === 'push' ? { taskId: audience, configId: target.configId } : {}),
  }
}
