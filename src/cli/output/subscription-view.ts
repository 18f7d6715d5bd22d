import type { Io } from '../../client/io.ts'
import type { SubscriptionView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { endOfId, fields, table } from './table.ts'
import { when, whenLong } from './when.ts'

export function subscriptionTable(io: Io, subscriptions: readonly SubscriptionView[]): string {
  const isTerminal = io.columns !== undefined
  const shown = table(
    io,
    ['SUBSCRIPTION', 'AGENT', 'TRIGGER', 'STATUS', 'CURSOR', 'TARGET'],
    subscriptions.map((subscription) => [
      subscription.subscriptionId,
      subscription.agentIdentity,
      subscription.trigger,
      isTerminal && subscription.retrying ? `${subscription.status}, retrying` : statusText(io, subscription),
      subscription.cursorLogId,
      subscription.harnessTargetMetadata.url ?? subscription.harnessTarget,
    ]),
    'No subscriptions yet. Make one: rouse listen\nOr: rouse sub add --trigger SENT_TO_ME --target-url <url>',
    ['CURSOR', 'TRIGGER'],
  )
  // A row has no room for it there.
  const away = isTerminal ? subscriptions.flatMap((one) => awayLine(io, one)) : []
  return away.length === 0 ? shown : `${shown}\n${away.join('')}`
}

function awayLine(io: Io, { subscriptionId, reason, retrying }: SubscriptionView): string[] {
  if (retrying === undefined) return []
  const why = reason === null ? '' : `${plain(reason)}, `
  return [`${endOfId(plain(subscriptionId))}: ${why}${retryingText(io, retrying)}\n`]
}

export function subscriptionText(io: Io, subscription: SubscriptionView): string {
  const { filters, harnessTargetMetadata: target } = subscription
  const text = fields({
    subscription: subscription.subscriptionId,
    agent: subscription.agentIdentity,
    trigger: subscription.trigger,
    concepts: filters.taggedConcepts?.join(', '),
    priority: filters.priority,
    senders: filters.senderFilter?.join(', '),
    'in reply to': filters.inReplyToFilter?.join(', '),
    channel: subscription.harnessTarget,
    target: target.url,
    reader: target.reader,
    stream: subscription.streamCapabilities?.join(', '),
    window: `${target.coalesceWindow} s`,
    status: statusText(io, subscription),
    cursor: subscription.cursorLogId,
    'last wake': subscription.lastEmittedLogId,
    created: whenLong(io, subscription.createdAt),
    updated: whenLong(io, subscription.updatedAt),
  })
  if (subscription.status === 'waiting' && subscription.harnessTarget === 'bridge-daemon') {
    return `${text}${waitingText(plain(subscription.subscriptionId), target.reader)}\n`
  }
  if (subscription.status !== 'degraded') return text
  const until = subscription.retrying ? 'its receiver answers a test wake, or' : ''
  return `${text}Nothing is delivered until${until && ` ${until}`}: rouse sub update ${plain(subscription.subscriptionId)} --status active\n`
}

/** The text about the reader of a subscription whose wakes are read as a stream. Source: D28. */
export function waitingText(id: string, reader?: string): string {
  if (reader !== undefined) return `It is waiting: it gathers until ${plain(reader)} reads it.`
  return `It is waiting: it gathers, and its wakes are fetched by  rouse listen --subscription ${id}\n(or GET /v1/wake-stream?subscription=${id}).`
}

function statusText(io: Io, { status, reason, retrying }: SubscriptionView): string {
  const text = reason ? `${status} (${reason})` : status
  return retrying ? `${text}, ${retryingText(io, retrying)}` : text
}

/** Since when a receiver is away, why, and when it is tried again. A degraded subscription has no count of tries: it is only probed. */
export function retryingText(io: Io, { since, nextTryAt, tries, error }: Retrying): string {
  const next = `next try ${when(io, nextTryAt)}`
  if (tries === undefined) return next
  return `retrying since ${when(io, since)} (${tries === 1 ? '1 try' : `${tries} tries`}, ${plain(error)}), ${next}`
}

type Retrying = NonNullable<SubscriptionView['retrying']>
