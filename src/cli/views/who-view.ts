import type { Io } from '../../client/io.ts'
import type { ClaimView, PresentAgentView, SubscriptionView } from '../../client/route-types.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { targets } from '../../words/targets.ts'
import { table } from '../table.ts'
import { when } from '../when.ts'

/** @param subscriptions those that the caller may read */
export function whoTable(
  io: Io,
  agents: readonly PresentAgentView[],
  claims: readonly ClaimView[],
  subscriptions: readonly SubscriptionView[],
): string {
  return table(
    io,
    ['AGENT', 'NAME', 'SESSION', 'SURFACE', 'DOING', 'WAKES', 'LAST SEEN', 'CAN', 'WORKS ON'],
    agents.map(({ handle, displayName, session, presence, lastSeenAt }) => [
      handle,
      displayName,
      session ? `s${session.sessionId.slice(-6)}` : undefined,
      session?.surface,
      session ? presence.state : 'no session',
      wakesOf(handle, subscriptions),
      when(io, lastSeenAt) || 'never',
      session?.capabilities?.join(','),
      clip(worksOn(handle, claims), 60),
    ]),
    'No agents yet. Add one with: rouse agent add @donna',
  )
}

/** The best status of its subscriptions decides whether it is woken now. */
const bestFirst = ['active', 'waiting', 'degraded', 'paused'] as const satisfies readonly SubscriptionView['status'][]

/** Whether wakes reach the agent: `waiting` is one that gathers until something reads it. Undefined: it has no subscription that wakes it. */
function wakesOf(handle: string, subscriptions: readonly SubscriptionView[]): SubscriptionView['status'] | undefined {
  const own = subscriptions.filter((one) => one.agentIdentity === handle && targets[one.harnessTarget].route !== 'none')
  return bestFirst.find((status) => own.some((one) => one.status === status))
}

function worksOn(handle: string, claims: readonly ClaimView[]): string {
  const own = claims.filter(({ owner }) => owner === handle)
  return own.map(({ ref, stale }) => plain(ref) + (stale ? ' (stale)' : '')).join(', ')
}
