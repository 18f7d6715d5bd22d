import type { LogEvent } from '../../log/event.ts'
import { presenceOf } from '../../registry/sessions/presence.ts'
import { newestLiveSession } from '../../registry/sessions/session-store.ts'
import { spawns } from '../../registry/subscriptions/stream-capabilities.ts'
import type { PushSubscription, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { targets } from '../../registry/subscriptions/targets.ts'
import type { Transaction } from '../../storage/database.ts'
import { concerns, isOwnAct, wakePolicyOf } from '../rules/match.ts'
import { decide, isWake, ownAct, routeOf } from '../rules/policy.ts'
import type { Held } from '../store/held-store.ts'

type Subject =
  | Pick<
      WakeSubscription,
      'id' | 'kind' | 'agentId' | 'trigger' | 'filters' | 'harnessTarget' | 'target' | 'audience' | 'streamCapabilities'
    >
  | Pick<PushSubscription, 'kind'>

/** Whether the policy of an event for an audience may hold it: then busy subscriptions are looked at too. */
export const mayBeHeld = (event: Pick<LogEvent, 'data'>, audience: string): boolean =>
  wakePolicyOf(event, audience) !== 'immediate'

/**
 * Returns those of the events that a subscription matches and that wake its agent, and adds each that does not to `held`, with its
 * reason. Called in the transaction that appends them. Presence is read only where it can change the decision. Source: S1-15…S1-21.
 */
export async function holdEvents(
  tx: Transaction,
  subject: Subject,
  events: readonly LogEvent[],
  held: Held[],
): Promise<readonly LogEvent[]> {
  const matching = events.filter((event) => concerns(subject, event))
  if (subject.kind === 'push' || matching.length === 0) return matching
  const { harnessTarget, audience, streamCapabilities } = subject
  const isGated =
    targets[harnessTarget].isGated && !spawns(subject) && !matching.every((event) => mayBeHeld(event, audience))
  const presence = presenceOf(isGated ? await newestLiveSession(tx, audience) : undefined, tx.now)
  const route = routeOf(harnessTarget, [...streamCapabilities, ...presence.capabilities])
  const waking: LogEvent[] = []
  for (const event of matching) {
    const decision = isOwnAct(subject, event) ? ownAct : decide(wakePolicyOf(event, audience), route, presence)
    if (isWake(decision)) {
      waking.push(event)
      continue
    }
    // A policy and an own act decide without presence.
    const isByPresence = isGated && decision !== ownAct && !mayBeHeld(event, audience)
    held.push({ subscriptionId: subject.id, event, decision, presence: isByPresence ? presence.state : null })
  }
  return waking
}
