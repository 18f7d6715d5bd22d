/**
 * The event types that a client of MCP may subscribe to. Additive for ever: a name is never removed, renamed or given another meaning.
 * Source: the extension `io.modelcontextprotocol/events` (SEP-3415), D42.
 */
export const mcpEventNames = [
  'mail.received',
  'task.message_received',
  'task.assigned',
  'task.state_changed',
  'task.input_required',
  'permission.granted',
  'message.status_changed',
  'wake.receipt',
  'agent.needs_attention',
  'operator.needed',
] as const
export type McpEventName = (typeof mcpEventNames)[number]

/** The arguments of a subscription, which choose among the events of a type. A list holds when one of its entries does. */
export interface McpEventArguments {
  /** Identities of senders: `@donna`. */
  readonly from?: readonly string[]
  readonly priority?: string
  readonly taggedConcepts?: readonly string[]
  /** Ids of messages or threads. */
  readonly inReplyTo?: readonly string[]
  readonly taskId?: string
  readonly messageId?: string
  /** States of a task in A2A's words, or statuses of a message. */
  readonly states?: readonly string[]
  readonly role?: 'originator' | 'assignee'
  readonly scope?: string
  readonly steps?: readonly string[]
  /** Identities of agents. */
  readonly agent?: readonly string[]
  /** Events that the subscriber caused itself too. */
  readonly includeOwn?: boolean
}

/** One type of events, and which of them. */
export interface McpEventChoice {
  readonly name: McpEventName
  readonly arguments: McpEventArguments
  /** The identity of the subscriber: `@donna`. */
  readonly self: string
}

/** The longest and the shortest time that a subscription lives without a refresh, and the time of one that does not say, in ms. */
export const mcpEventTtl = { default: 24 * 3_600_000, min: 60_000, max: 30 * 24 * 3_600_000 }

/** The most bytes of the body of one event. Receivers refuse a larger one with 413. */
export const mcpEventBytesMax = 262_144

const cursorMax = 200
const cursorPattern = /^\d{1,16}\.[^\0]{1,64}$/

/** Returns a position in the log of a project as a client keeps it: opaque, and safe to store. */
export function mcpEventCursor(projectId: string, logId: number): string {
  return Buffer.from(`${logId}.${projectId}`).toString('base64url')
}

/** Returns the logId of a cursor; undefined: it is none of this project. */
export function logIdOfCursor(cursor: string, projectId: string): number | undefined {
  if (cursor.length > cursorMax) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  if (!cursorPattern.test(text) || text.slice(text.indexOf('.') + 1) !== projectId) return undefined
  const logId = Number(text.slice(0, text.indexOf('.')))
  return Number.isSafeInteger(logId) ? logId : undefined
}

/** The error numbers of the draft, which clients of today know, and those of the final text. Source: SEP-3415, errors. */
export const mcpEventErrors = {
  NotFound: { draft: -32_011, sep: -32_023 },
  Forbidden: { draft: -32_012, sep: -32_024 },
  ResourceExhausted: { draft: -32_013, sep: -32_025 },
  Unsupported: { draft: -32_014, sep: -32_026 },
  CallbackEndpointError: { draft: -32_015, sep: -32_027 },
} as const
export type McpEventError = keyof typeof mcpEventErrors
export type McpEventCodes = 'draft' | 'sep'

/** Why a receiver could not be reached, or refused: never in its own words. */
export const callbackFaults = [
  'connection_refused',
  'timeout',
  'tls_error',
  'http_4xx',
  'http_5xx',
  'challenge_failed',
] as const
export type CallbackFault = (typeof callbackFaults)[number]

/**
 * Returns the word for an attempt that has failed: by its HTTP status, or by its error where there was no answer. A redirect is not followed, and
 * a name that leads to a forbidden address reads like a receiver that is not there. Pure.
 */
export function callbackFaultOf({ status, error }: { status: number | null; error: string | null }): CallbackFault {
  if (status !== null) return status >= 500 ? 'http_5xx' : 'http_4xx'
  if (error === 'timeout') return 'timeout'
  return error === 'tls' ? 'tls_error' : 'connection_refused'
}
