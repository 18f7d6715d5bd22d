import { Problem } from '../errors.ts'
import { identityOf } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { type Attempt, attemptFor, channelTo, type TestAttempt } from '../wakes/channel.ts'
import { testEmission } from '../wakes/content/emission.ts'
import { deliverableTargets } from '../words/targets.ts'
import type { SubscriptionContext } from './context.ts'
import { requireSubscription } from './read.ts'

/**
 * Sends a signed `wake/test` at once: one attempt, no record. On a stream it waits for what the reader reports, for a turn if it can begin one. It repeats the receiver's watermark, so that it does not move.
 * Errors: `subscription-not-found`, `invalid-request` for a target that this gateway does not send to, `rate-limited`.
 */
export async function sendTest(context: SubscriptionContext, caller: Caller, id: string): Promise<TestedWake> {
  const subscription = await requireSubscription(context.db, caller, id)
  const channel = channelTo(context.channels, subscription)
  if (!channel) {
    throw new Problem('invalid-request', {
      field: 'harnessTarget',
      detail: `harnessTarget: this gateway sends nothing to ${subscription.harnessTarget}; only ${deliverableTargets.join(', ')} can be tested.`,
    })
  }
  const emission = testEmission(subscription, caller.identity, context.clock.now())
  const agentIdentity = await identityOf(context.db, subscription.agentId)
  const order = { subscription, agentIdentity, emission, signal: new AbortController().signal }
  const { reported, waitsSeconds, ...attempt } = await channel.attempt(order)
  return {
    eventId: emission.eventId,
    attempt: attemptFor(caller, attempt),
    ...(reported === undefined ? {} : { reported }),
    ...(waitsSeconds === undefined ? {} : { waitsSeconds }),
  }
}

/** The outcome of a test wake. */
export interface TestedWake extends Pick<TestAttempt, 'reported' | 'waitsSeconds'> {
  readonly eventId: string
  readonly attempt: Attempt
}
