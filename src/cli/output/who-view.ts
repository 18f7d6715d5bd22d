import type { Io } from '../../client/io.ts'
import { overlapsOf } from '../../client/overlaps.ts'
import type {
  ClaimView,
  FollowerView,
  PresentAgentView,
  SubscriptionView,
  TaskSummaryView,
} from '../../client/route-types.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { targets } from '../../words/targets.ts'
import { retryingText } from './subscription-view.ts'
import { table } from './table.ts'
import { taskSubject } from './task-view.ts'
import { when } from './when.ts'

/** The agents that are shown, with their work. `tasks`: those in `working`; of tasks and subscriptions those that the caller may read. */
interface Team {
  readonly agents: readonly PresentAgentView[]
  readonly claims: readonly ClaimView[]
  readonly tasks: readonly TaskSummaryView[]
  readonly subscriptions: readonly SubscriptionView[]
  readonly followers: readonly FollowerView[]
}

export function whoText(io: Io, { agents, claims, tasks, subscriptions, followers }: Team): string {
  const lines = agents.flatMap(({ handle }) => [
    ...awayLine(io, handle, subscriptions),
    ...followsLine(handle, followers),
  ])
  const shown = table(
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
      clip(worksOn(handle, claims, tasks), 60),
    ]),
    'No agents yet. Add one with: rouse agent add @donna',
    ['CAN', 'NAME', 'SESSION', 'SURFACE', 'LAST SEEN'],
  )
  return lines.length === 0 ? shown : `${shown}\n${lines.join('')}`
}

/** The best status of its subscriptions decides whether it is woken now. */
const bestFirst = ['active', 'waiting', 'degraded', 'paused'] as const satisfies readonly SubscriptionView['status'][]

/**
 * Says whether wakes reach the agent: `waiting` is one that gathers until something reads it, and `retrying` one whose receiver is away. Empty
 * without a subscription that wakes it.
 */
function wakesOf(handle: string, subscriptions: readonly SubscriptionView[]): string | undefined {
  const { status, retrying } = bestOf(handle, subscriptions)
  const routes = new Set(subscriptions.filter((one) => one.agentIdentity === handle).flatMap(overlapsOf)).size
  if (routes > 1) return `${status}, ${routes} routes`
  if (retrying === undefined) return status
  return status === 'active' ? 'retrying' : `${status}, retrying`
}

/** The best status among the subscriptions that wake an agent; `retrying`: of all with that status the receivers are away, one for the longest. */
function bestOf(handle: string, subscriptions: readonly SubscriptionView[]) {
  const own = subscriptions.filter((one) => one.agentIdentity === handle && targets[one.harnessTarget].route !== 'none')
  const status = bestFirst.find((status) => own.some((one) => one.status === status))
  const best = own.filter((one) => one.status === status)
  const away = best.flatMap(({ retrying }) => retrying ?? []).sort((a, b) => a.since.localeCompare(b.since))
  return { status, retrying: away.length === best.length ? away[0] : undefined }
}

function awayLine(io: Io, handle: string, subscriptions: readonly SubscriptionView[]): string[] {
  const { retrying } = bestOf(handle, subscriptions)
  return retrying === undefined ? [] : [`${plain(handle)}: ${retryingText(io, retrying)}\n`]
}

/** Says what the client of an agent follows, and of how much it asks for the end at this moment. */
function followsLine(handle: string, followers: readonly FollowerView[]): string[] {
  const own = followers.filter(({ agent }) => agent === handle)
  return own.length === 0 ? [] : [`${plain(handle)}: ${followsText(own)}\n`]
}

/** `follows 2 tasks and its next mail, 1 of them polled now` */
export function followsText(followers: readonly FollowerView[]): string {
  const tasks = followers.filter(({ taskId }) => taskId !== null).length
  const what = [
    ...(tasks > 0 ? [`${tasks} task${tasks === 1 ? '' : 's'}`] : []),
    ...(followers.length > tasks ? ['its next mail'] : []),
  ]
  return `follows ${what.join(' and ')}, ${followers.filter(({ isPolled }) => isPolled).length} of them polled now`
}

function worksOn(handle: string, claims: readonly ClaimView[], tasks: readonly TaskSummaryView[]): string {
  const claimed = claims.filter(({ owner }) => owner === handle)
  const refs = claimed.map(({ ref, stale }) => plain(ref) + (stale ? ' (stale)' : ''))
  const others = tasks.filter(({ id, assignee }) => assignee === handle && !claimed.some(({ ref }) => ref === id))
  return [...refs, ...others.map((task) => `…${task.id.slice(-6)} ${taskSubject(task)}`)].join(', ')
}
