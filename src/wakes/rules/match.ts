import type { JsonObject } from '../../lib/json.ts'
import type { LogEvent, Routing } from '../../log/event.ts'
import type {
  Filters,
  PushSubscription,
  Subscription,
  WakeSubscription,
} from '../../registry/subscriptions/subscription.ts'
import { type EventType, eventTypes, type Trigger } from '../../words/events.ts'
import { type WakePolicy, wakePolicies } from '../../words/policies.ts'
import { presenceOf } from '../../words/presence.ts'
import { beginsTurns, type HarnessTarget, harnessTargets, targets } from '../../words/targets.ts'
import { isChosen } from './mcp-events.ts'
import { decide, isWake, routeOf } from './policy.ts'

/** The fields of an event that filters look at. */
interface Filterable {
  wakePolicy?: string
  priority?: string
  taggedConcepts?: readonly string[]
  from?: string
  isReplyTo?: string | null
  threadId?: string
}

/** The fields by which a subscription is matched. */
type MatchFields =
  | Pick<WakeSubscription, 'id' | 'kind' | 'agentId' | 'audience' | 'trigger' | 'filters' | 'harnessTarget' | 'target'>
  | Pick<PushSubscription, 'kind'>

/** The events that a push is sent for: states and artifacts of its task (A2A specification §4.3.3). */
const pushed = new Set<EventType>(['task.state_changed', 'task.artifact_added'])

/** The trigger of a subscription; undefined for a push, which reads every event of its task. */
export function triggerOf(subscription: Subscription): Trigger | undefined {
  return subscription.kind === 'wake' ? subscription.trigger : undefined
}

/**
 * True when an event that concerns a subscription's audience wakes it. Where presence decides, the decision was made when the event
 * was appended, and this decides whether it could have been a wake. Pure. Source: S1-15, S1-43.
 */
export function matches(subscription: MatchFields, event: LogEvent): boolean {
  if (!concerns(subscription, event)) return false
  if (subscription.kind === 'push') return true
  if (isOwnAct(subscription, event) || isFollowed(subscription, event)) return false
  const { harnessTarget, audience } = subscription
  const wakePolicy = wakePolicyOf(event, audience)
  if (targets[harnessTarget].isGated) return wakePolicy === 'immediate'
  return ungated[harnessTarget][wakePolicy]
}

/** For each policy and target: true when it wakes there while presence has no say. */
const ungated = Object.fromEntries(
  harnessTargets.map((target) => {
    const isWakeBy = (policy: WakePolicy) => isWake(decide(policy, routeOf(target), presenceOf(undefined, 0)))
    return [target, Object.fromEntries(wakePolicies.map((policy) => [policy, isWakeBy(policy)]))]
  }),
) as Record<HarnessTarget, Record<WakePolicy, boolean>>

/**
 * Returns the policy of an event for an agent of its audience: the one that the sender chose, otherwise the agent's default at the time of the append. A signal of the engine is `immediate`. Source: D6, D20.
 */
export function wakePolicyOf({ data }: Pick<LogEvent, 'data'>, audience: string): WakePolicy {
  const said = (data as Filterable).wakePolicy ?? routingOf({ data }).policies?.[audience] ?? 'immediate'
  return (wakePolicies as readonly string[]).includes(said) ? (said as WakePolicy) : 'next_turn'
}

/**
 * True when the subscription's own agent caused an event: then it is not woken by it, unless it asks for that. A push carries
 * everything. Pure. Source: D17.
 */
export function isOwnAct(subscription: MatchFields, { actorId }: Pick<LogEvent, 'actorId'>): boolean {
  if (subscription.kind === 'push' || actorId === null) return false
  return actorId === subscription.agentId && subscription.target.includeOwn !== true
}

/**
 * True when the agent of a subscription polled for an event as an MCP task when it was appended: the answer to the poll begins a turn in the
 * session, and a wake would begin a second one. Pure.
 */
export function isFollowed(subscription: MatchFields, event: Pick<LogEvent, 'data'>): boolean {
  if (subscription.kind === 'push' || !beginsTurns(subscription.harnessTarget)) return false
  const { agentId, audience } = subscription
  return agentId === audience && routingOf(event).followed?.includes(agentId) === true
}

/**
 * True when an event may wake a subscription of an audience, an agent or its task. What the policy decides is read from the event, and
 * needs no subscription. Pure.
 */
export function mayWake(
  { type, taskId, data }: Pick<LogEvent, 'type' | 'data'> & { readonly taskId?: string | null },
  audience: string,
): boolean {
  if (taskId === audience) return pushed.has(type)
  return eventTypes[type] !== null && wakePolicyOf({ data }, audience) === 'immediate'
}

/** True when a subscription listens to an event, whatever is decided about it then. Pure. */
export function concerns(subscription: MatchFields, event: LogEvent): boolean {
  if (subscription.kind === 'push') return pushed.has(event.type)
  if (event.trigger === null || event.trigger !== subscription.trigger) return false
  // Events of the engine about a subscription are not sent through the same one: a failure would cause the next.
  if (event.data.subscriptionId === subscription.id) return false
  const { mcpEvent } = subscription.target
  if (mcpEvent !== undefined) return isChosen(mcpEvent, event)
  // A nudge is no mail: filters have no say in it, and it goes to the one route that was chosen. A pulse has none.
  if (event.type === 'heartbeat.pulse') return routingOf(event).subscriptionId === subscription.id
  return passes(subscription.filters, event.data as Filterable, event.actor)
}

/**
 * True when a subject passes filters. Every filter that is given must hold; a list holds when it shares an entry with the subject.
 * The actor counts as the sender of a subject that names none.
 */
export function passes(filters: Filters, subject: Filterable, actor?: string): boolean {
  const { priority, taggedConcepts, senderFilter, inReplyToFilter } = filters
  if (priority !== undefined && subject.priority !== priority) return false
  if (taggedConcepts?.length && !share(taggedConcepts, subject.taggedConcepts ?? [])) return false
  if (senderFilter?.length && !senderFilter.includes(subject.from ?? actor ?? '')) return false
  if (inReplyToFilter?.length && !inReplyToFilter.some((id) => id === subject.isReplyTo || id === subject.threadId))
    return false
  return true
}

/** True when two lists share an entry. Long lists are not compared entry by entry: a project may have many filters. */
function share(wanted: readonly string[], given: readonly string[]): boolean {
  if (given.length <= fewEntries) return wanted.some((entry) => given.includes(entry))
  const all = new Set(given)
  return wanted.some((entry) => all.has(entry))
}

const fewEntries = 8

/** Returns the id of the message that an event is about: its own, or the one that caused a change of a task. */
export function messageIdOf(event: LogEvent): string | undefined {
  if (event.type === 'message.sent') return String(event.data.messageId)
  return comesWithMessage(event) ? String((event.data.message as JsonObject).messageId) : undefined
}

/** True when a message caused this task event. */
export function comesWithMessage(event: LogEvent): boolean {
  return event.type === 'task.state_changed' && event.data.message !== undefined
}

/** The trace that an event is part of. */
export function traceparentOf(event: Pick<LogEvent, 'data'>): string | undefined {
  return routingOf(event).traceparent
}

function routingOf({ data }: Pick<LogEvent, 'data'>): Routing {
  return (data.routing as Routing | undefined) ?? {}
}

/** True when the message of a task event went to this agent, and not to the other party. */
function isRecipient(agentId: string, { data, actorId }: LogEvent): boolean {
  const { recipientId } = routingOf({ data })
  return recipientId === undefined ? actorId !== agentId : recipientId === agentId
}

/**
 * True when another subscription of the same target already wakes for the message that caused this task event: one wake for each
 * recipient and message. A subscription that was made after the event never sends it. Source: D9.
 */
export function isWokenBySibling(
  subscription: WakeSubscription,
  event: LogEvent,
  siblings: readonly WakeSubscription[],
): boolean {
  if (subscription.trigger !== 'TASK_STATE_CHANGED' || !comesWithMessage(event)) return false
  if (!isRecipient(subscription.audience, event)) return false
  const message = event.data.message as Filterable
  return siblings.some(
    (sibling) =>
      sibling.trigger === 'SENT_TO_ME' &&
      sibling.status === 'active' &&
      sibling.createdAt <= event.createdAt &&
      sibling.harnessTarget === subscription.harnessTarget &&
      sibling.target.url === subscription.target.url &&
      passes(sibling.filters, message),
  )
}
