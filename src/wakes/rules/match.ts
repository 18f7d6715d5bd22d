import type { LogEvent } from '../../log/event.ts'
import { type WakePolicy, wakePolicies } from '../../registry/agents/agent.ts'
import { presenceOf } from '../../registry/sessions/presence.ts'
import type { Filters, Subscription } from '../../registry/subscriptions/subscription.ts'
import { decide, isGated, isWake, routeOf } from './policy.ts'

/** What a filter can look at, as the events carry it. */
interface Filterable {
  wakePolicy?: string
  priority?: string
  taggedConcepts?: readonly string[]
  from?: string
  isReplyTo?: string | null
  threadId?: string
}

type Matched = Pick<Subscription, 'id' | 'kind' | 'trigger' | 'filters' | 'harnessTarget'>

/** Which events a client of one task hears of: its states and its artifacts (A2A specification §4.3.3). */
const pushed = new Set(['task.state_changed', 'task.artifact_added'])

/**
 * Whether a subscription is to be woken by an event that concerns its audience. Where presence has a part in it, that was decided
 * when the event came, and this says what could be. Pure. Source: S1-15, S1-43.
 */
export function matches(subscription: Matched, event: LogEvent): boolean {
  if (!concerns(subscription, event)) return false
  const { kind, harnessTarget } = subscription
  if (kind === 'push') return true
  const wakePolicy = wakePolicyOf(event)
  if (isGated(harnessTarget)) return wakePolicy === 'immediate'
  return isWake(decide(wakePolicy, routeOf(harnessTarget), presenceOf(undefined, event.createdAt)))
}

/** The sender's contract for an event; what nobody sent, such as a signal of the engine, is `immediate`. */
export function wakePolicyOf({ data }: Pick<LogEvent, 'data'>): WakePolicy {
  const said = (data as Filterable).wakePolicy ?? 'immediate'
  return wakePolicies.find((policy) => policy === said) ?? 'next_turn'
}

/** Whether an event is what a subscription listens to, whatever becomes of it. Pure. */
export function concerns(subscription: Omit<Matched, 'harnessTarget'>, event: LogEvent): boolean {
  if (subscription.kind === 'push') return pushed.has(event.type)
  if (event.trigger === null || event.trigger !== subscription.trigger) return false
  // What the engine says of a subscription is not told through that same one: it would answer itself.
  if (event.data.subscriptionId === subscription.id) return false
  return passes(subscription.filters, event.data as Filterable, event.actor)
}

/** Every filter that is given must hold; a list holds when it shares an entry with the subject. Who acted sent what names no sender. */
export function passes(filters: Filters, subject: Filterable, actor?: string): boolean {
  const { priority, taggedConcepts, senderFilter, inReplyToFilter } = filters
  if (priority !== undefined && subject.priority !== priority) return false
  if (taggedConcepts?.length && !share(taggedConcepts, subject.taggedConcepts ?? [])) return false
  if (senderFilter?.length && !senderFilter.includes(subject.from ?? actor ?? '')) return false
  if (inReplyToFilter?.length && !inReplyToFilter.some((id) => id === subject.isReplyTo || id === subject.threadId))
    return false
  return true
}

/** Whether two lists have an entry in common. Long ones are not compared entry by entry: a project may have many filters. */
function share(wanted: readonly string[], given: readonly string[]): boolean {
  if (given.length <= fewEntries) return wanted.some((entry) => given.includes(entry))
  const all = new Set(given)
  return wanted.some((entry) => all.has(entry))
}

const fewEntries = 8

/** Whether a message caused this task event. */
export function comesWithMessage(event: LogEvent): boolean {
  return event.type === 'task.state_changed' && event.data.message !== undefined
}

/**
 * Whether another subscription of the same target already wakes for the message that caused this task event:
 * one wake for each recipient and message. One that was made after the event never tells it. Source: D9.
 */
export function isWokenBySibling(
  subscription: Subscription,
  event: LogEvent,
  siblings: readonly Subscription[],
): boolean {
  if (subscription.trigger !== 'TASK_STATE_CHANGED' || !comesWithMessage(event)) return false
  const message = event.data.message as Filterable
  return siblings.some(
    (sibling) =>
      sibling.trigger === 'SENT_TO_ME' &&
      sibling.status === 'active' &&
      sibling.createdAt <= event.createdAt &&
      sibling.harnessTarget === subscription.harnessTarget &&
      targetUrl(sibling) === targetUrl(subscription) &&
      passes(sibling.filters, message),
  )
}

function targetUrl(subscription: Subscription): string | undefined {
  return subscription.target.url
}
