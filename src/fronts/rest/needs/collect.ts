import { cutText } from '../../../lib/cut-text.ts'
import { messageIdFloor } from '../../../lib/ids.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { type OperatorMail, readOperatorMail } from '../../../mailbox/reading/operator-mail.ts'
import type { Need, NeedKind } from '../../../needs/need.ts'
import { identitiesOf, identityFrom } from '../../../registry/agents/identity.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { listTripped, readGates } from '../../../registry/recovery/gate-store.ts'
import { isParked } from '../../../registry/recovery/recovery.ts'
import { findRecovery, listParked } from '../../../registry/recovery/recovery-store.ts'
import { listAwaitingApproval } from '../../../registry/sessions/session-lists.ts'
import { listFailing } from '../../../registry/subscriptions/failing-store.ts'
import type { WakeSubscription } from '../../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../../storage/database.ts'
import { loadTaskDocuments } from '../../../tasks/read-task.ts'
import type { Task } from '../../../tasks/task.ts'
import { listWaitingOf, listWaitingTasks } from '../../../tasks/waiting-tasks.ts'
import { failuresMax } from '../../../wakes/rules/after-delivery.ts'
import { lastFailureOf, readRetrying } from '../../../wakes/store/retrying-store.ts'
import type { TaskState } from '../../../words/task-states.ts'
import { instant } from '../instant.ts'
import { countedMax, groupsOfOne, type NeedGroup, readGroups, type Source } from './groups.ts'
import type { NeedFields } from './view.ts'

/** The most agents whose gate has tripped, or who are parked or wait for an approval: each is one need. */
const agentsMax = 10_000
/** The most that is told of each agent and kind, the longest waits. */
const toldMax = 100
const textMax = 2_000
/** From here on a submitted task is late. */
const lateMs = 10 * 60_000

/** For whom needs are read: the operator of a project, or one agent. */
interface Asking {
  readonly db: Reader
  readonly caller: Caller
  readonly now: number
  /** The most needs of each agent and kind. */
  readonly share: number
}

/** Reads everything that waits for a person, a share of each agent and kind. */
export async function readNeeds(asking: Asking): Promise<NeedGroup[]> {
  const { now, share } = asking
  const lists = await Promise.all([
    readGroups(taskNeeds(asking, 'input', 'input-required', now), share),
    readGroups(taskNeeds(asking, 'auth', 'auth-required', now), share),
    readGroups(taskNeeds(asking, 'late', 'submitted', now - lateMs), share),
    readGroups(mailNeeds(asking), share),
    readGroups(subscriptionNeeds(asking), share),
    approvalNeeds(asking).then(groupsOfOne),
    gateNeeds(asking).then(groupsOfOne),
    parkNeeds(asking).then(groupsOfOne),
  ])
  return lists.flat()
}

/**
 * Returns the needs that operators are told of: each by itself, and of what is beyond `toldMax` of an agent and kind, that there is more. An
 * agent's many cost that agent alone.
 */
export async function readToldNeeds(asking: Omit<Asking, 'share'>): Promise<Need[]> {
  const groups = await readNeeds({ ...asking, share: toldMax })
  return groups.flatMap(({ kind, agent, needs, total }) => {
    const text = `More than ${toldMax} of ${agent} wait.`
    return total > needs.length ? [...needs, { kind, agent, since: needs.at(-1)!.since, text }] : needs
  })
}

function taskNeeds({ db, caller }: Asking, kind: NeedKind, state: TaskState, until: number): Source<Task> {
  const { kind: whose, id, projectId } = caller
  return {
    async read({ first, last, after, limit }) {
      const [afterId = ''] = after.id.split('@')
      const share = { first, last, afterAt: after.createdAt, afterId, most: countedMax + 1 }
      const waiting = { state, until, limit }
      const found =
        whose === 'operator'
          ? await listWaitingTasks(db, { projectId, ...waiting, ...share })
          : (await listWaitingOf(db, id, { ...waiting, limit: countedMax })).map((task) => ({ task, total: 0 }))
      return found.map(({ task, total }) => {
        const at = { createdAt: task.statusAt, id: `${task.id}@${task.version}` }
        return { kind, owner: task.assigneeId, at, total, part: task.agentId === task.assigneeId, row: task }
      })
    },
    async needsOf(tasks) {
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
    },
  }
}

/** An agent reads its own mail; that of the operator is for a person. */
function mailNeeds({ db, caller }: Asking): Source<OperatorMail> {
  const projects = caller.namesProject ? [caller.projectId] : caller.projects
  return {
    async read({ first, last, after: { createdAt, id }, limit }) {
      if (caller.kind !== 'operator') return []
      // Ids of messages begin with their time. Needs of other kinds may have the same time.
      const after = id.startsWith('MESSAGE:') ? id : messageIdFloor(id > 'MESSAGE:' ? createdAt + 1 : createdAt)
      const owners =
        first === last || !projects
          ? [{ first, last }]
          : projects.map((one) => ({ first: `${one} `, last: `${one} ~` }))
      const read = owners.map((range) => readOperatorMail(db, { ...range, after, limit, most: countedMax + 1 }))
      const mails = (await Promise.all(read)).flat()
      return mails.map((row) => {
        return {
          kind: 'mail',
          owner: row.origin,
          at: { createdAt: row.createdAt, id: row.messageId },
          total: row.total,
          row,
        }
      })
    },
    needsOf: async (mails) =>
      mails.map(({ subject, body, senderId, from, createdAt, messageId, threadId }) => ({
        kind: 'mail',
        agent: identityFrom(senderId, from),
        since: instant(createdAt),
        text: cutText([subject, body].filter(Boolean).join('\n\n'), textMax),
        messageId,
        threadId,
      })),
  }
}

function subscriptionNeeds({ db, caller }: Asking): Source<WakeSubscription> {
  const { id, projectId } = caller
  return {
    isShort: true,
    async read({ first, last, limit }) {
      const of = first === last ? { agentId: first } : caller.kind === 'operator' ? { projectId } : { agentId: id }
      const failing = await listFailing(db, of, 'agentId' in of ? countedMax : limit)
      return failing.map(({ subscription, trouble: kind, total }) => {
        const at = { createdAt: subscription.updatedAt, id: subscription.id }
        return { kind, owner: subscription.agentId, at, total, row: subscription }
      })
    },
    async needsOf(failing, kind) {
      const retrying = await readRetrying(db, failing)
      const identity = await identities(db, failing)
      const needs = failing.map(async (subscription): Promise<NeedFields[]> => {
        const { id: subscriptionId, agentId, reason, trigger, updatedAt, failedInARow } = subscription
        const away = retrying.get(subscriptionId)
        const about = { kind, agent: identity(agentId), subscriptionId, trigger, until: away?.nextTryAt ?? null }
        if (kind === 'degraded') return [{ ...about, since: instant(updatedAt), text: reason ?? 'degraded' }]
        const last = kind === 'failing' ? await lastFailureOf(db, subscriptionId) : undefined
        if (last) return [{ ...about, since: last.at, text: failingText(failedInARow, last.error) }]
        return away
          ? [{ ...about, kind: 'retrying', since: away.since, text: `${away.error}, ${away.tries} tries` }]
          : []
      })
      return (await Promise.all(needs)).flat()
    },
  }
}

function failingText(failedInARow: number, error: string): string {
  const events = failedInARow === 1 ? '1 event has failed' : `${failedInARow} events in a row have failed`
  return `${events} (${error}). After ${failuresMax} nothing more is sent.`
}

/** A report counts however old it is: a harness that waits for a person has nothing new to report. */
async function approvalNeeds({ db, caller }: Asking): Promise<NeedFields[]> {
  const { id, projectId } = caller
  const waiting = await listAwaitingApproval(
    db,
    caller.kind === 'operator' ? { projectId } : { agentId: id },
    agentsMax,
  )
  const identity = await identities(db, waiting)
  return waiting.map(({ id: sessionId, agentId, presenceAt, lastSeenAt, surface }) => ({
    kind: 'approval',
    agent: identity(agentId),
    since: instant(presenceAt ?? lastSeenAt),
    text: `Its harness (${surface}) waits until a person approves its next step.`,
    sessionId,
  }))
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
  const tripped = await listTripped(db, projectId, agentsMax)
  const name = await identities(db, tripped)
  return tripped.map(({ agentId, since, reason }) => gateNeed(agentId === '' ? null : name(agentId), since, reason))
}

function gateNeed(agent: string | null, since: number, reason: string | null): NeedFields {
  return { kind: 'gate', agent, since: instant(since), text: reason ?? 'Recovery has stopped by itself.' }
}

async function parkNeeds({ db, caller, now }: Asking): Promise<NeedFields[]> {
  const { kind, id, projectId } = caller
  const found =
    kind === 'operator' ? await listParked(db, projectId, now, agentsMax) : [await findRecovery(db, id, projectId)]
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
