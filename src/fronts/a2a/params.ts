import {
  type ListTasksRequest,
  type Message,
  TaskState as ProtoState,
  Role,
  type SendMessageRequest,
} from '@a2a-js/sdk'
import { Problem } from '../../errors.ts'
import { readIsoTime } from '../../lib/iso-time.ts'
import { sizeLimits } from '../../limits.ts'
import { requireBoundedId, requireBoundedMessage, requireBoundedModes } from '../../tasks/bounded-message.ts'
import { nullData } from '../../tasks/part.ts'
import { type TaskState, taskStates } from '../../words/task-states.ts'
import { protoState } from './task-view.ts'

const pageSizeDefault = 50
const pageSizeMax = 100

/** The message of a request, checked against the specification (§4.1.4) and the limits on messages. Errors: `invalid-request`, `payload-too-large`. */
export function requireMessage({ message, configuration, metadata }: SendMessageRequest): Message {
  if (!message) throw invalid('message', 'is required: an A2A message with messageId, role and parts.')
  requireBoundedMessage(message, metadata)
  requireBoundedModes(configuration?.acceptedOutputModes)
  if (!message.messageId) throw invalid('message.messageId', 'is required: an id that you make, e.g. a UUID.')
  if (message.role !== Role.ROLE_USER)
    throw invalid('message.role', 'must be ROLE_USER: only that role is allowed for a client.')
  if (message.parts.length === 0) throw invalid('message.parts', 'needs at least one part.')
  for (let index = 0; index < message.parts.length; index++) {
    const part = message.parts[index]!
    if (part.content === undefined) throw invalid(`message.parts[${index}]`, 'needs one of text, raw, url or data.')
    if (part.content.$case === 'data' && part.content.value == null)
      throw invalid(`message.parts[${index}].data`, nullData)
  }
  return message
}

/** Converts values to the types of the schema: the SDK's v0.3 translator passes on values of any type. */
export function typed<T>(schema: { fromJSON(json: unknown): T; toJSON(value: T): unknown }, value: T): T {
  return schema.fromJSON(schema.toJSON(value))
}

export function requireId(id: string, field: string): void {
  if (typeof id !== 'string' || !id) throw invalid(field, 'is required: the id of a task.')
  requireBoundedId(id, field)
}

/** The largest value of the specification's int32. */
const int32Max = 2 ** 31 - 1

/** undefined: as many messages as an answer carries; 0: none (specification §3.2.4). */
export function historyLimit(historyLength: number | undefined): number | undefined {
  if (historyLength === undefined) return undefined
  if (Number.isInteger(historyLength) && historyLength >= 0 && historyLength <= int32Max) {
    return Math.min(historyLength, sizeLimits.taskItems.max)
  }
  throw invalid('historyLength', `is the number of messages wanted: an integer from 0 to ${int32Max}.`)
}

/** The filters of ListTasks (specification §3.1.4). */
export function listQuery(params: ListTasksRequest): {
  contextId: string | undefined
  state: TaskState | undefined
  statusSince: number | undefined
  pageSize: number
  pageToken: string | undefined
} {
  const pageSize = params.pageSize ?? pageSizeDefault
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > pageSizeMax) {
    throw invalid('pageSize', `is a number from 1 to ${pageSizeMax}.`)
  }
  if (params.contextId) requireBoundedId(params.contextId, 'contextId')
  return {
    contextId: params.contextId || undefined,
    state: stateFilter(params.status),
    statusSince: instant(params.statusTimestampAfter),
    pageSize,
    pageToken: params.pageToken || undefined,
  }
}

function stateFilter(status: ProtoState): TaskState | undefined {
  if (status === undefined || status === ProtoState.TASK_STATE_UNSPECIFIED) return undefined
  const name = ProtoState[status]
  const state = taskStates.find((candidate) => protoState(candidate) === name)
  if (!state) throw invalid('status', `is one of ${taskStates.map(protoState).join(', ')}.`)
  return state
}

function instant(text: string | undefined): number | undefined {
  if (!text) return undefined
  const at = readIsoTime(text)
  if (at === undefined)
    throw invalid('statusTimestampAfter', 'must be an instant in ISO 8601, e.g. 2026-04-26T10:00:00.000Z.')
  return at
}

function invalid(field: string, reason: string): Problem {
  return new Problem('invalid-request', { field, detail: `${field} ${reason}` })
}
