import type { LogEvent } from '../../log/event.ts'
import type { Session } from '../../registry/sessions/session.ts'
import { newestLiveSession } from '../../registry/sessions/session-lists.ts'
import { spawns } from '../../registry/subscriptions/stream-capabilities.ts'
import type { PushSubscription, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Transaction } from '../../storage/database.ts'
import { presenceOf } from '../../words/presence.ts'
import { targets } from '../../words/targets.ts'
import { concerns, isOwnAct, wakePolicyOf } from '../rules/match.ts'
import { decide, isWake, routeOf } from '../rules/policy.ts'
import type { Held } from '../store/held-store.ts'

type Subject =
  | Pick<
      WakeSubscription,
      'id' | 'kind' | 'agentId' | 'trigger' | 'filters' | 'harnessTarget' | 'target' | 'audience' | 'streamCapabilities'
    >
  | Pick<PushSubscription, 'kind'>

/** Returns the live session of an agent. */
export type SessionOf = (agentId: string) => Promise<Session | undefined>

/**
 * Returns those of the events that a subscription matches and that wake its agent. Adds to `held` those that the route or presence
 * holds, with the reason. What a policy holds, and own acts, are not added: both follow from the event, whenever it is read. Called
 * in the transaction that appends them. Presence is read only where it can change the decision. Source: S1-15…S1-21.
 */
export async function holdEvents(
  tx: Transaction,
  subject: Subject,
  events: readonly LogEvent[],
  held: Held[],
  sessionOf: SessionOf = (agentId) => newestLiveSession(tx, agentId),
): Promise<readonly LogEvent[]> {
  if (subject.kind === 'push') return events.filter((event) => concerns(subject, event))
  const { harnessTarget, audience, streamCapabilities } = subject
  const matching = events.filter(
    (event) => concerns(subject, event) && wakePolicyOf(event, audience) === 'immediate' && !isOwnAct(subject, event),
  )
  if (matching.length === 0) return matching
  const isGated = targets[harnessTarget].isGated && !spawns(subject)
  const presence = presenceOf(isGated ? await sessionOf(audience) : undefined, tx.now)
  const route = routeOf(harnessTarget, [...streamCapabilities, ...presence.capabilities])
  const waking: LogEvent[] = []
  for (const event of matching) {
    const decision = decide('immediate', route, presence)
    if (isWake(decision)) waking.push(event)
    else held.push({ subscriptionId: subject.id, event, decision, presence: isGated ? presence.state : null })
  }
  return waking
}
