import type { LogEvent } from '../../log/event.ts'
import { firstLogIdSince, newestTaskEvents } from '../../log/event-search.ts'
import { readTriggerEvents } from '../../log/event-store.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { isOwnAct, matches, messageIdOf, passes, wakePolicyOf } from '../rules/match.ts'
import { pageMax } from './pending.ts'

/** The ids of an agent's unread messages, and of the tasks that it has to work on. */
export interface Waiting {
  readonly messageIds: ReadonlySet<string>
  /** When the oldest of them was sent, ms since the epoch; null: there is none. */
  readonly oldestAt: number | null
  readonly taskIds: readonly string[]
}

export type FindWaiting = (agentId: string) => Promise<Waiting>

/** A message and its event may have been stamped this far apart. */
const slackMs = 60_000
/** How many pages of an agent's mail a digest looks through: what is older than their first event is found by the next page. */
const pagesMax = 100

/**
 * Returns the events up to a cursor of the unread mail and the open tasks of a subscription's agent, in log order. A task whose
 * message is unread is there once. Source: D29.
 */
export async function readWaitingEvents(
  db: Reader,
  subscription: WakeSubscription,
  { messageIds, oldestAt, taskIds }: Waiting,
  upTo: number,
): Promise<readonly LogEvent[]> {
  const mail = oldestAt === null ? [] : await unreadMail(db, subscription, messageIds, oldestAt, upTo)
  const ofMail = new Set(mail.map(({ taskId }) => taskId))
  const others = taskIds.filter((id) => !ofMail.has(id))
  const tasks = await newestTaskEvents(db, subscription.projectId, others, upTo)
  const open = tasks.filter((event) => wakesForTask(subscription, event))
  return [...mail, ...open].sort((a, b) => a.logId - b.logId)
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

/** Whether the newest change of an open task wakes the assignee, even if the assignee itself caused it: it has to work on the task. */
function wakesForTask(subscription: WakeSubscription, event: LogEvent): boolean {
  const { trigger, filters } = subscription
  if (trigger === 'TASK_STATE_CHANGED')
    return isOwnAct(subscription, event) ? passesFilters(event) : matches(subscription, event)
  return trigger === 'SENT_TO_ME' && passesFilters(event) && wakePolicyOf(event, subscription.audience) === 'immediate'

  function passesFilters({ data, actor }: LogEvent): boolean {
    return passes(filters, data, actor)
  }
}
