import type { Io } from '../../client/io.ts'
import type { ClaimView, PresentAgentView, SubscriptionView, TaskSummaryView } from '../../client/route-types.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { targets } from '../../words/targets.ts'
import { table } from './table.ts'
import { taskSubject } from './task-view.ts'
import { when } from './when.ts'

/** What is shown of the agents. `tasks`: those in `working`; of tasks and subscriptions those that the caller may read. */
interface Team {
  readonly agents: readonly PresentAgentView[]
  readonly claims: readonly ClaimView[]
  readonly tasks: readonly TaskSummaryView[]
  readonly subscriptions: readonly SubscriptionView[]
}

export function whoTable(io: Io, { agents, claims, tasks, subscriptions }: Team): string {
  return table(
    io,
    ['AGENT', 'NAME', 'SESSION', 'SURFACE', 'DOING', 'WAKES', 'LAST SEEN', 'CAN', 'WORKS ON'],
    agents.map(({ handle, displayName, session, presence, lastSeenAt }) => [
      handle,
      displayName,
      session ? `s${session.sessionId.slice(-6)}` : undefined,
      session?.surface,
      session ? presence.state : 'no session',
      wakesOf(io, handle, subscriptions),
      when(io, lastSeenAt) || 'never',
      session?.capabilities?.join(','),
      clip(worksOn(handle, claims, tasks), 60),
    ]),
    'No agents yet. Add one with: rouse agent add @donna',
    ['CAN', 'NAME', 'SESSION', 'SURFACE', 'LAST SEEN'],
  )
}

/** The best status of its subscriptions decides whether it is woken now. */
const bestFirst = ['active', 'waiting', 'degraded', 'paused'] as const satisfies readonly SubscriptionView['status'][]

/** Whether wakes reach the agent: `waiting` is one that gathers until something reads it. Empty without a subscription that wakes it. */
function wakesOf(io: Io, handle: string, subscriptions: readonly SubscriptionView[]): string | undefined {
  const own = subscriptions.filter((one) => one.agentIdentity === handle && targets[one.harnessTarget].route !== 'none')
  const best = bestFirst.find((status) => own.some((one) => one.status === status))
  const away = own.filter(({ status, retrying }) => status === best && retrying)
  const [first] = away.map(({ retrying }) => retrying!.since).sort()
  const isAway = first !== undefined && away.length === own.filter(({ status }) => status === best).length
  return isAway ? `${best}, retrying since ${when(io, first)}` : best
}

function worksOn(handle: string, claims: readonly ClaimView[], tasks: readonly TaskSummaryView[]): string {
  const claimed = claims.filter(({ owner }) => owner === handle)
  const refs = claimed.map(({ ref, stale }) => plain(ref) + (stale ? ' (stale)' : ''))
  const others = tasks.filter(({ id, assignee }) => assignee === handle && !claimed.some(({ ref }) => ref === id))
  return [...refs, ...others.map((task) => `…${task.id.slice(-6)} ${taskSubject(task)}`)].join(', ')
}
