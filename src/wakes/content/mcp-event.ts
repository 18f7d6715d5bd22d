import { createHash } from 'node:crypto'
import { isoTime } from '../../lib/iso-time.ts'
import type { JsonObject } from '../../lib/json.ts'
import { cutLine, oneLine } from '../../lib/words.ts'
import type { LogEvent } from '../../log/event.ts'
import { type McpEventChoice, type McpEventName, mcpEventBytesMax, mcpEventCursor } from '../../words/mcp-events.ts'
import { conceptsOf, withoutWords } from './payload.ts'

/** One event as every way brings it: webhook, poll and stream. Source: SEP-3415, event occurrence. */
export interface McpEvent {
  /** The same for every attempt, and on every way. */
  readonly eventId: string
  readonly name: McpEventName
  /** ISO 8601: when it happened. */
  readonly timestamp: string
  /** Ids, names and a subject: never a body. */
  readonly data: JsonObject
}

const lineMax = 200
const lineOf = (text: unknown): string => cutLine(oneLine(String(text ?? '')), lineMax)

const mail = (data: JsonObject): JsonObject => ({
  messageId: data.messageId,
  from: data.from,
  subject: lineOf(data.subject),
  priority: data.priority,
  ...(data.taskId === undefined ? {} : { taskId: data.taskId }),
  threadId: data.threadId,
  isReplyTo: data.isReplyTo ?? null,
  isBroadcast: data.isBroadcast ?? false,
  ...conceptsOf(data.taggedConcepts),
})
const task = ({ taskId, previousState, newState, originator, assignee, lastModifiedAt, message }: JsonObject) => ({
  taskId,
  previousState: previousState ?? null,
  state: newState,
  originator,
  assignee,
  changedAt: lastModifiedAt,
  ...messageOf(message as JsonObject | undefined),
})
/** The message that caused a change of a task. */
const messageOf = (message: JsonObject | undefined): JsonObject =>
  message === undefined ? {} : { messageId: message.messageId, subject: lineOf(message.subject) }

/** The data of each type. A field is added, and never removed, renamed or given another type. */
const dataOf: Readonly<Record<McpEventName, (data: JsonObject, at: string) => JsonObject>> = {
  'mail.received': mail,
  'task.message_received': mail,
  'task.assigned': task,
  'task.state_changed': task,
  'task.input_required': task,
  'permission.granted': ({ scope, grantedBy, grantedAt }) => ({ scope, grantedBy, grantedAt }),
  'message.status_changed': ({ messageId, threadId, subject, recipient, previousStatus, status, changedAt }) => ({
    messageId,
    threadId,
    subject: lineOf(subject),
    recipient,
    previousStatus,
    status,
    changedAt,
  }),
  'wake.receipt': ({ messageId, taskId, threadId, recipient, step, at }) => ({
    messageId,
    ...(taskId === undefined ? {} : { taskId }),
    threadId,
    recipient,
    step,
    at,
  }),
  'agent.needs_attention': ({ agent, subscriptionId, reason }, at) => ({
    agent,
    subscriptionId,
    reason: lineOf(reason),
    since: at,
  }),
  'operator.needed': ({ need, kind, agent, taskId, messageId, subscriptionId, since, subject }) => ({
    need,
    kind,
    agent,
    ...(taskId === undefined ? {} : { taskId }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(subscriptionId === undefined ? {} : { subscriptionId }),
    since,
    subject: lineOf(subject),
  }),
}

/** Returns the data of an event for a subscriber. Without the scope `read` it has ids only. Pure. */
export function mcpEventData(
  { name }: Pick<McpEventChoice, 'name'>,
  { data, createdAt }: LogEvent,
  isWithoutSubjects: boolean,
): JsonObject {
  const made = dataOf[name](data, isoTime(createdAt))
  return isWithoutSubjects ? withoutWords(made) : made
}

/** Returns the id of an event of a project's log as a type: a receiver knows by it what it has had. Pure. */
export function mcpEventId(projectId: string, logId: number, name: McpEventName): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([projectId, logId, name]))
    .digest('hex')
  return `evt_${hash.slice(0, 32)}`
}

/** The body of one delivery. `doneTo`: everything up to this logId is done with, so that its cursor is safe to keep. */
export function mcpEventBody(projectId: string, event: McpEvent, doneTo: number): string {
  const cursor = mcpEventCursor(projectId, doneTo)
  const body = JSON.stringify({ ...event, cursor })
  if (Buffer.byteLength(body) <= mcpEventBytesMax) return body
  // Its reader finds the rest by the ids.
  return JSON.stringify({ ...event, data: withoutWords(event.data), cursor })
}
