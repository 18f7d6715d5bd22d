import { cutText } from '../../../lib/cut-text.ts'
import { messageIdFloor } from '../../../lib/ids.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { cutLine, firstLine } from '../../../lib/words.ts'
import { readOperatorMail } from '../../../mailbox/reading/operator-mail.ts'
import type { NeedKind } from '../../../needs/need.ts'
import { comparePlaces, type Place, urgencyOf } from '../../../needs/urgency.ts'
import { identityIn } from '../../../registry/agents/agent.ts'
import { findNames } from '../../../registry/agents/agent-store.ts'
import { identitiesOf, identityFrom } from '../../../registry/agents/identity.ts'
import { listFailing } from '../../../registry/subscriptions/failing-store.ts'
import type { Reader } from '../../../storage/database.ts'
import { loadTaskDocument } from '../../../tasks/read-task.ts'
import type { Task } from '../../../tasks/task.ts'
import { readTaskMessage } from '../../../tasks/task-message-store.ts'
import { findTask } from '../../../tasks/task-store.ts'
import { listWaitingOf, listWaitingTasks } from '../../../tasks/waiting-tasks.ts'
import { failuresMax } from '../../../wakes/rules/after-delivery.ts'
import { lastFailureOf, readRetrying } from '../../../wakes/store/retrying-store.ts'
import type { TaskState } from '../../../words/task-states.ts'
import { instant } from '../instant.ts'
import { agentNeeds } from './agent-needs.ts'
import { approvalNeeds } from './approval-needs.ts'
import { countedMax, groupsOf, isAfter, type NeedReader, textMax, type WaitingNeed, waitingOf } from './waiting.ts'

/** The most notices for each owner and kind, the longest waits. */
const noticesMax = 100
const subjectMax = 200
/** From here on a submitted task is late. */
const lateMs = 10 * 60_000

/** The part that is read. */
interface Part {
  /** The most of each owner and kind: so the many of one hide nothing of another. */
  readonly share: number
  /** Only what is after this place. */
  readonly after?: Place
  /** Only what is of this owner. */
  readonly owner?: string | undefined
}

/** The place before all needs. */
export const start: Place = { urgency: 'stops', createdAt: -1, id: '' }

/** Reads what waits for a person, the most urgent first. */
export async function readWaiting(asking: NeedReader, part: Part): Promise<WaitingNeed[]> {
  const { now } = asking
  const { share, after = start, owner } = part
  const lists = await Promise.all([
    waitingTasks(asking, part, 'input', 'input-required', now),
    waitingTasks(asking, part, 'auth', 'auth-required', now),
    waitingTasks(asking, part, 'late', 'submitted', now - lateMs),
    waitingMail(asking, part),
    waitingSubscriptions(asking, part),
    agentNeeds(asking),
    approvalNeeds(asking),
  ])
  const wanted = lists.flat().filter((one) => isAfter(one, after) && (owner === undefined || owner === one.owner))
  return groupsOf(wanted.sort(comparePlaces))
    .flatMap((group) => group.slice(0, share).map((one) => ({ ...one, total: Math.max(one.total, group.length) })))
    .sort(comparePlaces)
}

/**
 * Reads what operators are notified of: each by itself, and of what is beyond `noticesMax` of an owner and kind, that there is more. So the many of one
 * cost that one alone.
 */
export async function readTellable(asking: NeedReader): Promise<WaitingNeed[]> {
  const waiting = await readWaiting(asking, { share: noticesMax })
  const more = groupsOf(waiting).flatMap((group) => {
    const { kind, agent, owner, total, createdAt } = group.at(-1)!
    const need = { kind, agent, since: instant(createdAt), text: `More than ${noticesMax} of ${agent} wait.` }
    return total > group.length ? [waitingOf(need, owner, 1)] : []
  })
  return [...waiting, ...more]
}

/** Finds something that waits by the id of its need, however much of its owner waits. */
export async function findWaiting(asking: NeedReader, id: string): Promise<WaitingNeed | undefined> {
  const [taskId = ''] = id.split('@')
  const task = await findTask(asking.db, taskId)
  const isMail = id.startsWith('MESSAGE:')
  const createdAt = task?.statusAt ?? (isMail ? 0 : -1)
  const urgency = task?.state === 'submitted' ? 'late' : isMail ? 'mail' : 'stops'
  // The beginning of an id is the place just before it. The place of a subscription or an approval is not in its id.
  const share = /^(WAKE_SUB|APPROVAL):/.test(id) ? countedMax : 1
  const found = await readWaiting(asking, { share, after: { urgency, createdAt, id: taskId.slice(0, -1) } })
  return found.find((one) => one.id === id)
}

async function waitingTasks(
  { db, caller }: NeedReader,
  { share: limit, after: last = start, owner }: Part,
  kind: NeedKind,
  state: TaskState,
  until: number,
): Promise<WaitingNeed[]> {
  const { id, projectId } = caller
  const after = within(kind, last)
  const [afterId = ''] = after.id.split('@')
  const place = { afterAt: after.createdAt, afterId, first: owner ?? ' ', last: owner ?? '~' }
  const found =
    caller.kind === 'operator'
      ? await listWaitingTasks(db, { projectId, state, until, limit, most: countedMax + 1, ...place })
      : (await listWaitingOf(db, id, { state, until, limit: countedMax + 1 })).map((task) => ({ task, total: 0 }))
  const names = await findNames(
    db,
    found.map(({ task }) => task.assigneeId),
  )
  return found.map(({ task, total }) => {
    const assignee = names.get(task.assigneeId)
    const agent = assignee ? identityIn(projectId, assignee) : identityFrom(task.assigneeId, null)
    const place = { urgency: urgencyOf[kind], createdAt: task.statusAt, id: `${task.id}@${task.version}` }
    return { kind, owner: task.assigneeId, agent, total, ...place, load: () => taskNeed(db, task, { kind, projectId }) }
  })
}

async function taskNeed(db: Reader, task: Task, { kind, projectId }: { kind: NeedKind; projectId: string }) {
  const document = await loadTaskDocument(db, task, { historyLength: 1, artifacts: false, viewer: projectId })
  const { originator, agent: sentTo, assignee: agent, statusMessage, history } = document
  const text = textOf((statusMessage ?? history.at(-1))?.parts)
  const { id: taskId, version } = task
  const subject = subjectOf(textOf((await readTaskMessage(db, taskId, 1))?.parts))
  return { kind, agent, since: instant(task.statusAt), text, subject, taskId, version, sentTo, originator }
}

/** An agent reads its own mail; that of the operator is for a person. */
async function waitingMail(
  { db, caller }: NeedReader,
  { share, after: last = start, owner }: Part,
): Promise<WaitingNeed[]> {
  if (caller.kind !== 'operator') return []
  const projects = caller.namesProject ? [caller.projectId] : caller.projects
  const { createdAt, id } = within('mail', last)
  // Ids of messages begin with their time. Needs of other kinds may have the same time.
  const from = id.startsWith('MESSAGE:') ? id : messageIdFloor(id > 'MESSAGE:' ? createdAt + 1 : createdAt)
  const everywhere = [{ first: owner ?? '', last: owner ?? '~' }]
  const ranges = owner ? everywhere : (projects?.map((one) => ({ first: `${one} `, last: `${one} ~` })) ?? everywhere)
  const bounds = { after: from, limit: share, most: countedMax + 1 }
  const mails = (await Promise.all(ranges.map((range) => readOperatorMail(db, { ...range, ...bounds })))).flat()
  return mails.map(({ origin, messageId, threadId, senderId, from, subject, body, createdAt, total }) => {
    const agent = identityFrom(senderId, from)
    const text = cutText([subject, body].filter(Boolean).join('\n\n'), textMax)
    const about = { text, subject: subjectOf(subject), messageId, threadId }
    const need = { kind: 'mail', agent, since: instant(createdAt), ...about } as const
    return {
      urgency: 'mail',
      kind: 'mail',
      owner: origin,
      agent,
      total,
      createdAt,
      id: messageId,
      load: async () => need,
    }
  })
}

async function waitingSubscriptions({ db, caller }: NeedReader, { share, after }: Part): Promise<WaitingNeed[]> {
  const of = caller.kind === 'operator' ? { projectId: caller.projectId } : { agentId: caller.id }
  // Their places are known when they are read: an agent has some hundred at most.
  const failing = await listFailing(db, of, after || 'agentId' in of ? countedMax : share)
  const subscriptions = failing.map(({ subscription }) => subscription)
  const retrying = await readRetrying(db, subscriptions)
  const identity = await identitiesOf(
    db,
    subscriptions.map(({ agentId }) => agentId),
  )
  const waiting = failing.map(async ({ subscription, trouble: kind, total }): Promise<WaitingNeed[]> => {
    const { id: subscriptionId, agentId, reason, trigger, updatedAt, failedInARow } = subscription
    const away = retrying.get(subscriptionId)
    const about = { kind, agent: identity(agentId), subscriptionId, trigger, until: away?.nextTryAt ?? null }
    const made = (since: string, text: string) => [waitingOf({ ...about, since, text }, agentId, total)]
    if (kind === 'degraded') return made(instant(updatedAt), reason ?? 'degraded')
    const last = kind === 'failing' ? await lastFailureOf(db, subscriptionId) : undefined
    if (last) return made(last.at, failingText(failedInARow, last.error))
    return away ? made(away.since, `${away.error}, ${away.tries} tries`) : []
  })
  return (await Promise.all(waiting)).flat()
}

function failingText(failedInARow: number, error: string): string {
  const events = failedInARow === 1 ? '1 event has failed' : `${failedInARow} events in a row have failed`
  return `${events} (${error}). After ${failuresMax} nothing more is sent.`
}

/** The place after which needs of a kind are read: at the beginning of a less urgent kind. */
function within(kind: NeedKind, after: Place): Place {
  const first = { ...start, urgency: urgencyOf[kind] }
  return comparePlaces(first, after) > 0 ? first : after
}

const subjectOf = (text: string): string => cutLine(firstLine(text), subjectMax)

/** The texts of a message, cut. */
function textOf(parts: readonly JsonObject[] = []): string {
  const texts = parts.map(({ text }) => (typeof text === 'string' ? text : '')).filter(Boolean)
  return cutText(texts.join('\n\n'), textMax)
}
