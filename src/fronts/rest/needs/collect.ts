import { cutText } from '../../../lib/cut-text.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { readInbox } from '../../../mailbox/reading/inbox.ts'
import type { NeedKind } from '../../../needs/need.ts'
import { identitiesOf } from '../../../registry/agents/identity.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { listTripped, readGates } from '../../../registry/recovery/gate-store.ts'
import { isParked } from '../../../registry/recovery/recovery.ts'
import { findRecovery, listParked } from '../../../registry/recovery/recovery-store.ts'
import { pageLiveSessions } from '../../../registry/sessions/session-lists.ts'
import { listFailing } from '../../../registry/subscriptions/failing-store.ts'
import type { Reader } from '../../../storage/database.ts'
import { loadTaskDocuments } from '../../../tasks/read-task.ts'
import { listWaitingTasks } from '../../../tasks/waiting-tasks.ts'
import { failuresMax } from '../../../wakes/rules/after-delivery.ts'
import { lastFailureOf, readRetrying } from '../../../wakes/store/retrying-store.ts'
import type { TaskState } from '../../../words/task-states.ts'
import { instant } from '../instant.ts'
import type { NeedFields } from './view.ts'

/** The most that is listed of each kind. */
export const needsMax = 100
/** The most live sessions that are looked at. */
const sessionsMax = 1_000
const textMax = 2_000
/** From here on a submitted task is late. */
const lateMs = 10 * 60_000

/** For whom needs are read: the operator of a project, or one agent. */
interface Asking {
  readonly db: Reader
  readonly caller: Caller
  readonly now: number
}

/** Reads everything that waits for a person, the longest wait first. `isCut`: there are more than are listed. */
export async function readNeeds(asking: Asking): Promise<{ needs: NeedFields[]; isCut: boolean }> {
  const { now } = asking
  const lists = await Promise.all([
    taskNeeds(asking, 'input', 'input-required', now),
    taskNeeds(asking, 'auth', 'auth-required', now),
    taskNeeds(asking, 'late', 'submitted', now - lateMs),
    approvalNeeds(asking),
    mailNeeds(asking),
    subscriptionNeeds(asking),
    gateNeeds(asking),
    parkNeeds(asking),
  ])
  const needs = lists.flat().sort((one, other) => (one.since < other.since ? -1 : 1))
  return { needs, isCut: lists.some((list) => list.length >= needsMax) }
}

async function taskNeeds(
  { db, caller }: Asking,
  kind: NeedKind,
  state: TaskState,
  until: number,
): Promise<NeedFields[]> {
  const { id: originatorId, projectId } = caller
  const of = caller.kind === 'operator' ? { projectId } : { originatorId }
  const tasks = await listWaitingTasks(db, of, { state, until, limit: needsMax })
  const documents = await loadTaskDocuments(db, tasks, { historyLength: 1, artifacts: false, viewer: projectId })
  return documents.map(({ task, originator, agent: sentTo, assignee, statusMessage, history }) => ({
    kind,
    agent: assignee,
    since: instant(task.statusAt),
    text: textOf((statusMessage ?? history.at(-1))?.parts),
    taskId: task.id,
    version: task.version,
    sentTo,
    originator,
  }))
}

/** A report counts however old it is: a harness that waits for a person has nothing new to report. */
async function approvalNeeds({ db, caller }: Asking): Promise<NeedFields[]> {
  const { id, projectId } = caller
  const of = caller.kind === 'operator' ? { projectId } : { agentId: id }
  const { items } = await pageLiveSessions(db, of, { before: '', limit: sessionsMax })
  const waiting = items.filter(({ state }) => state === 'waitingOnApproval').slice(0, needsMax)
  const identity = await identities(db, waiting)
  return waiting.map(({ id: sessionId, agentId, presenceAt, lastSeenAt, surface }) => ({
    kind: 'approval',
    agent: identity(agentId),
    since: instant(presenceAt ?? lastSeenAt),
    text: `Its harness (${surface}) waits until a person approves its next step.`,
    sessionId,
  }))
}

/** An agent reads its own mail; that of the operator is for a person. */
async function mailNeeds({ db, caller }: Asking): Promise<NeedFields[]> {
  if (caller.kind !== 'operator') return []
  const { id: agentId, projects } = caller
  const { mails } = await readInbox(db, { agentId, unread: true, projects, order: 'oldest', limit: needsMax })
  return mails.map(({ message, from }) => ({
    kind: 'mail',
    agent: from,
    since: instant(message.createdAt),
    text: cutText([message.subject, message.body].filter(Boolean).join('\n\n'), textMax),
    messageId: message.id,
    threadId: message.threadId,
  }))
}

async function subscriptionNeeds({ db, caller }: Asking): Promise<NeedFields[]> {
  const { id, projectId } = caller
  const failing = await listFailing(db, caller.kind === 'operator' ? { projectId } : { agentId: id }, needsMax)
  const retrying = await readRetrying(db, failing)
  const identity = await identities(db, failing)
  const needs = failing.map(async (subscription): Promise<NeedFields[]> => {
    const { id: subscriptionId, agentId, status, reason, trigger, updatedAt, failedInARow } = subscription
    const away = retrying.get(subscriptionId)
    const about = { agent: identity(agentId), subscriptionId, trigger, until: away?.nextTryAt ?? null }
    if (status === 'degraded') {
      return [{ kind: 'degraded', ...about, since: instant(updatedAt), text: reason ?? 'degraded' }]
    }
    if (status !== 'active') return []
    const last = failedInARow > 0 ? await lastFailureOf(db, subscriptionId) : undefined
    if (last) return [{ kind: 'failing', ...about, since: last.at, text: failingText(failedInARow, last.error) }]
    if (away) return [{ kind: 'retrying', ...about, since: away.since, text: `${away.error}, ${away.tries} tries` }]
    return []
  })
  return (await Promise.all(needs)).flat()
}

function failingText(failedInARow: number, error: string): string {
  const events = failedInARow === 1 ? '1 event has failed' : `${failedInARow} events in a row have failed`
  return `${events} (${error}). After ${failuresMax} nothing more is sent.`
}

async function gateNeeds({ db, caller, now }: Asking): Promise<NeedFields[]> {
  const { kind, id, identity, projectId } = caller
  const isTripped = (gate: { readonly nudges: string; readonly restarts: string }) =>
    gate.nudges === 'tripped' || gate.restarts === 'tripped'
  const { project, effective } = await readGates(db, projectId, kind === 'agent' ? id : '')
  if (kind === 'agent' || !project) {
    const agent = kind === 'agent' ? identity : null
    return isTripped(effective) ? [gateNeed(agent, effective.since ?? now, effective.reason)] : []
  }
  const tripped = await listTripped(db, projectId, needsMax)
  const name = await identities(db, tripped)
  return tripped.map(({ agentId, since, reason }) => gateNeed(agentId === '' ? null : name(agentId), since, reason))
}

function gateNeed(agent: string | null, since: number, reason: string | null): NeedFields {
  return { kind: 'gate', agent, since: instant(since), text: reason ?? 'Recovery has stopped by itself.' }
}

async function parkNeeds({ db, caller, now }: Asking): Promise<NeedFields[]> {
  const { kind, id, projectId } = caller
  const found =
    kind === 'operator' ? await listParked(db, projectId, now, needsMax) : [await findRecovery(db, id, projectId)]
  const parked = found.filter((recovery) => isParked(recovery, now))
  const identity = await identities(db, parked)
  return parked.map(({ agentId, parked: limit }) => {
    const { since, until, isOpen, reason, detail } = limit!
    return {
      kind: 'parked',
      agent: identity(agentId),
      since: instant(since),
      text: detail === null ? reason : `${reason}: ${detail}`,
      until: isOpen ? null : instant(until),
    }
  })
}

const identities = (db: Reader, rows: readonly { readonly agentId: string }[]) =>
  identitiesOf(
    db,
    rows.map(({ agentId }) => agentId),
  )

/** The texts of a message, cut. */
function textOf(parts: readonly JsonObject[] = []): string {
  const texts = parts.map(({ text }) => (typeof text === 'string' ? text : '')).filter(Boolean)
  return cutText(texts.join('\n\n'), textMax)
}
