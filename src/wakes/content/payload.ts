import type { JsonObject } from '../../lib/json.ts'
import { cutLine, oneLine } from '../../lib/words.ts'
import { KiB } from '../../limits.ts'
import type { LogEvent } from '../../log/event.ts'
import type { Subscription, WakeTarget } from '../../registry/subscriptions/subscription.ts'
import type { EventType, eventTypes } from '../../words/events.ts'
import type { TaskState } from '../../words/task-states.ts'

/** The bytes of taggedConcepts in the payload of a wake; the rest is cut. */
const conceptsBytesMax = 8 * KiB

/** The event types on the wire. Source: S1-22…S1-30; those that are not named there are ours. */
export const wakeEventTypes = [
  'wake/sent_to_me',
  'wake/task_state_changed',
  'wake/permission_granted',
  'wake/message_status_changed',
  'wake/receipt',
  'wake/digest',
  'wake/subscription_degraded',
  'wake/subscription_recovered',
  'wake/event_failed',
  'wake/signing_key_rotated',
  'wake/heartbeat_pulse',
  'wake/recovery_changed',
  'wake/gate_changed',
  'wake/need_changed',
  'wake/test',
] as const
export type WakeEventType = (typeof wakeEventTypes)[number]

const subjectMax = 200

/** A2A's lower-case states as wake payloads spell them. Source: D7. */
const stateNames: Record<TaskState, string> = {
  submitted: 'Submitted',
  working: 'Working',
  'input-required': 'InputRequired',
  'auth-required': 'AuthRequired',
  completed: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
  rejected: 'Rejected',
}

export const wakeState = (state: unknown): string | null =>
  typeof state === 'string' ? (stateNames[state as TaskState] ?? state) : null

/** Mail from before subjects were limited to one line may have several, which would look like lines of the gateway itself. */
const subjectOf = (subject: unknown): string => cutLine(oneLine(String(subject ?? '')), subjectMax)

/** Returns as many of the first concepts as a pointer has room for. `GET /v1/messages/{id}` has all of them. */
export function conceptsOf(all: unknown): JsonObject {
  if (!Array.isArray(all)) return { taggedConcepts: [] }
  let left = conceptsBytesMax
  const fits = (concept: unknown): boolean => {
    left -= Buffer.byteLength(String(concept))
    return left >= 0
  }
  const end = all.findIndex((concept) => !fits(concept))
  return end < 0 ? { taggedConcepts: all } : { taggedConcepts: all.slice(0, end), taggedConceptsTruncated: true }
}

/** A recipient of the agent's mail has changed its status. Source: S4-6. */
const statusChanged = {
  eventType: 'wake/message_status_changed',
  payload: ({ messageId, threadId, subject, recipient, previousStatus, status, changedAt }: JsonObject) => ({
    messageId,
    threadId,
    subject: subjectOf(subject),
    recipient,
    previousStatus,
    status,
    changedAt,
  }),
} as const

/** A change of what recovery does for an agent. */
const recoveryChanged = {
  eventType: 'wake/recovery_changed',
  payload: ({ agent, change, mode, epoch, reason, until, since }: JsonObject) => ({
    agent,
    change,
    ...(mode === undefined ? {} : { mode }),
    ...(epoch === undefined ? {} : { epoch }),
    reason,
    ...(until === undefined ? {} : { until }),
    since,
  }),
} as const

/** Returns the ids among the fields of an event. */
const idsOf = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name.endsWith('Id')))

/** Something waits for a person, or does so no more. */
const needChanged = {
  eventType: 'wake/need_changed',
  payload: ({ change, need, kind, agent, since, subject, ...about }: JsonObject) => ({
    change,
    need,
    kind,
    agent,
    ...idsOf(about),
    ...(since === undefined ? {} : { since, subject: subjectOf(subject) }),
  }),
} as const

type Shape = { eventType: WakeEventType; payload: (data: JsonObject) => JsonObject }

/** The events that fire a trigger. */
type WakingEvent = {
  [Type in EventType]: (typeof eventTypes)[Type] extends null ? never : Type
}[EventType]

/** The wake of each event that can be one. A wake is a pointer: ids, names and a subject, never a body. */
const shapes: Record<WakingEvent, Shape> = {
  'message.sent': {
    eventType: 'wake/sent_to_me', // S1-24
    payload: (data) => ({
      messageId: data.messageId,
      // Of the mail of a task only: what its reader works on.
      ...(data.taskId === undefined ? {} : { taskId: data.taskId }),
      from: data.from,
      subject: subjectOf(data.subject),
      priority: data.priority,
      ...conceptsOf(data.taggedConcepts),
      isReplyTo: data.isReplyTo ?? null,
      isBroadcast: data.isBroadcast ?? false,
    }),
  },
  'task.state_changed': {
    eventType: 'wake/task_state_changed', // S1-25
    payload: (data) => ({
      taskId: data.taskId,
      previousState: wakeState(data.previousState),
      newState: wakeState(data.newState),
      originator: data.originator,
      assignee: data.assignee,
      lastModifiedAt: data.lastModifiedAt,
    }),
  },
  'permission.granted': {
    eventType: 'wake/permission_granted', // S1-26
    payload: ({ permissionId, scope, grantedBy, grantedAt }) => ({
      ...(permissionId === undefined ? {} : { permissionId }),
      scope,
      grantedBy,
      grantedAt,
    }),
  },
  'message.seen': statusChanged,
  'message.acked': statusChanged,
  'message.resolved': statusChanged,
  'message.superseded': statusChanged,
  'wake.reported': {
    eventType: 'wake/receipt',
    payload: ({ messageId, taskId, threadId, recipient, step, source, at, detail, messageCount }) => ({
      messageId,
      ...(taskId === undefined ? {} : { taskId }),
      threadId,
      recipient,
      step,
      source,
      at,
      ...(detail === undefined ? {} : { detail }),
      ...(messageCount === undefined ? {} : { messageCount }),
    }),
  },
  'subscription.degraded': {
    eventType: 'wake/subscription_degraded',
    payload: ({ subscriptionId, agent, reason }) => ({ subscriptionId, agent, reason }),
  },
  'subscription.recovered': {
    eventType: 'wake/subscription_recovered',
    payload: ({ subscriptionId, agent, reason }) => ({ subscriptionId, agent, reason }),
  },
  'wake.failed': {
    eventType: 'wake/event_failed',
    payload: ({ subscriptionId, agent, eventId, logId, reason }) => ({ subscriptionId, agent, eventId, logId, reason }),
  },
  'subscription.key_rotated': {
    eventType: 'wake/signing_key_rotated',
    payload: ({ subscriptionId, agent, previousKeyUntil }) => ({ subscriptionId, agent, previousKeyUntil }),
  },
  'heartbeat.pulse': {
    eventType: 'wake/heartbeat_pulse', // S1-30
    payload: ({ agent, mode, reason, unread, openTasks, oldestAt, next, contextTokens }) => ({
      agent,
      mode,
      reason,
      unread,
      openTasks,
      oldestAt,
      next,
      ...(contextTokens === undefined ? {} : { contextTokens }),
    }),
  },
  'recovery.ordered': recoveryChanged,
  'recovery.ended': recoveryChanged,
  'recovery.deferred': recoveryChanged,
  'recovery.parked': recoveryChanged,
  'recovery.unparked': recoveryChanged,
  'need.raised': needChanged,
  'need.cleared': needChanged,
  'gate.changed': {
    eventType: 'wake/gate_changed',
    payload: ({ agent, nudges, restarts, reason, changedBy, since }) => ({
      ...(agent === undefined ? {} : { agent }),
      nudges,
      restarts,
      reason,
      changedBy,
      since,
    }),
  },
}

/** True when the wakes of a subscription have ids and counts only. */
export function hidesSubjects({ kind, target }: Pick<Subscription, 'kind' | 'target'>): boolean {
  return kind === 'wake' && (target as WakeTarget).withoutSubjects === true
}

/** Returns the wake of one event. Throws for an event that fires no trigger. */
export function wakePayload(
  event: LogEvent,
  isWithoutSubjects = false,
): { eventType: WakeEventType; payload: JsonObject } {
  const shape = (shapes as Partial<Record<EventType, Shape>>)[event.type]
  if (!shape) throw new Error(`No wake is defined for ${event.type}.`)
  const payload = shape.payload(event.data)
  return { eventType: shape.eventType, payload: isWithoutSubjects ? withoutWords(payload) : payload }
}

/** The fields stay, because readers expect them. */
export function withoutWords(payload: JsonObject): JsonObject {
  const { subject, taggedConcepts, detail, ...ids } = payload
  return {
    ...ids,
    ...(subject === undefined ? {} : { subject: '' }),
    ...(taggedConcepts === undefined ? {} : { taggedConcepts: [] }),
  }
}
