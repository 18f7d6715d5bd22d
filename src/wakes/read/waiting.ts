import type { LogEvent, PastEvent } from '../../log/event.ts'
import { firstLogIdSince, type LogStart, newestTaskEvents, oldestKept } from '../../log/event-search.ts'
import { readTriggerEvents } from '../../log/event-store.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { eventTypes } from '../../words/events.ts'
import { isOwnAct, matches, messageIdOf, passes, wakePolicyOf } from '../rules/match.ts'
import { pageMax } from './pending.ts'

/** The ids of an agent's unread messages, and of the tasks that it has to work on. */
export interface WaitingWork {
  readonly messageIds: ReadonlySet<string>
  /** When the oldest of them was sent, ms since the epoch; null: there is none. */
  readonly oldestAt: number | null
  readonly taskIds: readonly string[]
  /** Returns the events of the messages from before an instant, and of the tasks whose state is from before it, as far as the store knows them. */
  mailBefore(before: number): Promise<readonly PastEvent[]>
  tasksBefore(before: number, taskIds: readonly string[], projectId: string): Promise<readonly PastEvent[]>
}

export type FindWaiting = (agentId: string) => Promise<WaitingWork>

/** A message and its event may have been stamped this far apart. */
const slackMs = 60_000
/** How many pages of an agent's mail a digest looks through: what is older than their first event is found by the next page. */
const pagesMax = 100

/**
 * Returns the events up to a cursor of the unread mail and the open tasks of a subscription's agent, in log order. A task whose
 * message is unread is there once. What the log no longer has comes first, with the newest logId that is gone. Source: D29, D39.
 */
export async function readWaitingEvents(
  db: Reader,
  subscription: WakeSubscription,
  waiting: WaitingWork,
  upTo: number,
): Promise<readonly LogEvent[]> {
  const { messageIds, oldestAt, taskIds } = waiting
  const kept = await oldestKept(db, subscription.projectId)
  const mail = oldestAt === null ? [] : await unreadMail(db, subscription, messageIds, oldestAt, upTo)
  const all = [...(await pastMail(db, subscription, waiting, kept)), ...mail]
  const ofMail = new Set(all.map(({ taskId }) => taskId))
  const others = taskIds.filter((id) => !ofMail.has(id))
  const tasks = await newestTaskEvents(db, subscription.projectId, others, upTo)
  const open = [...(await pastTasks(db, subscription, waiting, kept, others)), ...tasks]
  all.push(...open.filter((event) => wakesForTask(subscription, event)))
  return all.sort((a, b) => a.logId - b.logId || a.createdAt - b.createdAt)
}

/** The unread mail whose events the log no longer has. */
async function pastMail(
  db: Reader,
  subscription: WakeSubscription,
  { oldestAt, mailBefore }: WaitingWork,
  { prunedTo, at }: LogStart,
): Promise<LogEvent[]> {
  const { projectId, audience, trigger } = subscription
  if (oldestAt === null || oldestAt >= at || trigger !== 'SENT_TO_ME') return []
  // A message may be stamped a little before its event.
  const range = { after: prunedTo, upTo: Number.MAX_SAFE_INTEGER, limit: pageMax }
  const first = await readTriggerEvents(db, projectId, audience, trigger, range)
  const known = new Set(first.map(messageIdOf))
  const events = (await mailBefore(at)).map((event) => pastEvent(event, projectId, prunedTo))
  return events.filter((event) => !known.has(messageIdOf(event)) && matches(subscription, event))
}

/** Those of the tasks whose events the log no longer has. */
async function pastTasks(
  db: Reader,
  { projectId }: WakeSubscription,
  { tasksBefore }: WaitingWork,
  { prunedTo, at }: LogStart,
  taskIds: readonly string[],
): Promise<LogEvent[]> {
  if (prunedTo === 0) return []
  const inLog = await newestTaskEvents(db, projectId, taskIds, Number.MAX_SAFE_INTEGER)
  const known = new Set(inLog.map(({ taskId }) => taskId))
  const unknown = taskIds.filter((id) => !known.has(id))
  return (await tasksBefore(at, unknown, projectId)).map((event) => pastEvent(event, projectId, prunedTo))
}

/** An event that the log no longer has, in the place of the newest one that is gone. */
function pastEvent({ audience: _, ...event }: PastEvent, projectId: string, logId: number): LogEvent {
  const { type, taskId, actorId } = event
  return { ...event, projectId, logId, taskId: taskId ?? null, actorId: actorId ?? null, trigger: eventTypes[type] }
}

async function unreadMail(
  db: Reader,
  subscription: WakeSubscription,
  messageIds: ReadonlySet<string>,
  since: number,
  upTo: number,
): Promise<LogEvent[]> {
  const { projectId, audience } = subscription
  if (subscription.trigger !== 'SENT_TO_ME') return []
  const found: LogEvent[] = []
  let after = (await firstLogIdSince(db, projectId, since - slackMs)) - 1
  for (let pages = 0; pages < pagesMax && after < upTo; pages++) {
    const range = { after, upTo, limit: pageMax }
    const page = await readTriggerEvents(db, projectId, audience, 'SENT_TO_ME', range)
    for (const event of page) {
      if (messageIds.has(messageIdOf(event) ?? '') && matches(subscription, event)) found.push(event)
    }
    if (page.length < pageMax) break
    after = page.at(-1)!.logId
    await new Promise(setImmediate)
  }
  return found
}

/** True when the newest change of an open task wakes the assignee, even if the assignee itself caused it: it has to work on the task. */
function wakesForTask(subscription: WakeSubscription, event: LogEvent): boolean {
  const { trigger, filters } = subscription
  if (trigger === 'TASK_STATE_CHANGED')
    return isOwnAct(subscription, event) ? passesFilters(event) : matches(subscription, event)
  return trigger === 'SENT_TO_ME' && passesFilters(event) && wakePolicyOf(event, subscription.audience) === 'immediate'

  function passesFilters({ data, actor }: LogEvent): boolean {
    return passes(filters, data, actor)
  }
}
