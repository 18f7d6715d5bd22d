import { contextOf, firstMailOf } from '../lib/ids.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import type { EventType } from '../words/events.ts'
import type { LogEvent } from './event.ts'

type Row = Pick<LogEvent, 'type' | 'taskId' | 'actor'>

/** The members of an object that follow from the row of an event and from the rest of the object in its data. In the order of the members. */
type Implied = (row: Row, data: JsonObject) => JsonObject

interface Shape {
  readonly implied: Implied
  /** The objects in it that are stored in the same way. */
  readonly inner?: Readonly<Record<string, Shape>>
}

/** The first mail of a task has its id. */
const mailIdOf = (taskId: string | null): string | undefined => (taskId === null ? undefined : firstMailOf(taskId))

/** Most messages have normal priority, no concepts, and begin their thread; their sender caused the event. */
const messageOfChange: Shape = {
  implied: ({ actor, taskId }, { messageId = mailIdOf(taskId) }) => ({
    messageId: mailIdOf(taskId),
    from: actor,
    priority: 'normal',
    taggedConcepts: [],
    isReplyTo: null,
    threadId: messageId,
  }),
}
/** The events of a message, which are almost all events of a log. Others are stored whole. */
const shapes: Partial<Record<EventType, Shape>> = {
  'message.sent': {
    implied: ({ actor, taskId }, { messageId = mailIdOf(taskId) }) => ({
      messageId: mailIdOf(taskId),
      from: actor,
      subject: undefined,
      priority: 'normal',
      wakePolicy: undefined,
      taggedConcepts: [],
      isReplyTo: null,
      isBroadcast: false,
      threadId: messageId,
      taskId: taskId ?? undefined,
    }),
  },
  'task.state_changed': {
    implied: ({ taskId }) => ({
      taskId: taskId ?? undefined,
      contextId: taskId === null ? undefined : contextOf(taskId),
      previousState: null,
      newState: 'submitted',
      version: 1,
      originator: undefined,
      assignee: undefined,
      previousAssignee: undefined,
      priority: 'normal',
      taggedConcepts: [],
    }),
    inner: { message: messageOfChange },
  },
}

/** Returns the data of an event as JSON, without what its row implies. `readStored` puts that back. */
export function dataToStored(row: Row, data: JsonObject): string {
  const shape = shapes[row.type]
  return JSON.stringify(shape ? shorten(row, data, shape) : data)
}

/** Reads what `dataToStored` wrote, with its members in the same order. */
export function readStored(row: Row, stored: string): JsonObject {
  const data = JSON.parse(stored) as JsonObject
  const shape = shapes[row.type]
  return shape ? complete(row, data, shape) : data
}

function shorten(row: Row, data: JsonObject, { implied, inner }: Shape): JsonObject {
  const known = implied(row, data)
  const short: JsonObject = {}
  for (const name in data) {
    const value = data[name]
    if (isSame(value, known[name])) continue
    const shape = inner?.[name]
    short[name] = shape && isJsonObject(value) ? shorten(row, value, shape) : value
  }
  return short
}

function complete(row: Row, stored: JsonObject, { implied, inner }: Shape): JsonObject {
  const known = implied(row, stored)
  const data: JsonObject = {}
  for (const name in known) {
    const value = name in stored ? stored[name] : known[name]
    if (value !== undefined) data[name] = value
  }
  for (const name in stored) data[name] = stored[name]
  for (const name in inner) {
    const value = data[name]
    if (isJsonObject(value)) data[name] = complete(row, value, inner[name]!)
  }
  return data
}

/** A list is implied only when it is empty. */
function isSame(value: unknown, implied: unknown): boolean {
  return value === implied || (Array.isArray(implied) && Array.isArray(value) && value.length === 0)
}
