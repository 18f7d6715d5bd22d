import type { LogEvent } from '../../log/event.ts'
import { presenceOf } from '../../registry/sessions/presence.ts'
import { newestLiveSession } from '../../registry/sessions/session-store.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Transaction } from '../../storage/database.ts'
import { concerns, wakePolicyOf } from '../rules/match.ts'
import { decide, isGated, isWake, routeOf } from '../rules/policy.ts'
import { insertHeld } from '../store/held-store.ts'

type Candidate = Pick<Subscription, 'id' | 'kind' | 'trigger' | 'filters' | 'harnessTarget' | 'audience'>

/** Whether there is a subscription for which an event must be held: then even those that are busy are asked. */
export const mayBeHeld = (event: Pick<LogEvent, 'data'>): boolean => wakePolicyOf(event) !== 'immediate'

/**
 * Decides, within the transaction that appends them, which of the events that a subscription matches wake its agent, and keeps the
 * reason of each that does not. What the harness is doing is looked up only where it has a part in it. Source: S1-15…S1-21.
 */
export async function holdEvents(
  tx: Transaction,
  candidate: Candidate,
  events: readonly LogEvent[],
): Promise<readonly LogEvent[]> {
  const matching = events.filter((event) => concerns(candidate, event))
  if (candidate.kind === 'push' || matching.length === 0) return matching
  const { harnessTarget, audience } = candidate
  const gated = isGated(harnessTarget) && !matching.every(mayBeHeld)
  const presence = presenceOf(gated ? await newestLiveSession(tx, audience) : undefined, tx.now)
  const route = routeOf(harnessTarget, presence.capabilities)
  const waking: LogEvent[] = []
  for (const event of matching) {
    const decision = decide(wakePolicyOf(event), route, presence)
    if (isWake(decision)) waking.push(event)
    else await insertHeld(tx, candidate.id, event, decision, gated && !mayBeHeld(event) ? presence.state : null)
  }
  return waking
}
