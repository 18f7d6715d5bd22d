import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCNotification,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server'
import { Problem } from '../../../errors.ts'
import { inputLimits, mcpLimits } from '../../../limits.ts'

/** The messages of one POST. */
export interface Posted {
  readonly messages: readonly JSONRPCMessage[]
  readonly hasRequests: boolean
  /** Several messages, or one in a list. */
  readonly isBatch: boolean
}

/** Returns the messages of a body: one, or a batch of protocol versions up to 2025-03-26. Errors: `invalid-request`. Pure. */
export function postedIn(body: unknown): Posted {
  const { max } = mcpLimits.mcpBatch
  const given = Array.isArray(body) ? body : [body]
  if (given.length === 0 || given.length > max) {
    throw new Problem('invalid-request', {
      detail: `A batch has 1 to ${max} messages; this one has ${given.length}.`,
      extra: { limit: 'mcpBatch', max },
    })
  }
  const messages = given.map(parsed)
  return { messages, hasRequests: messages.some(isJSONRPCRequest), isBatch: Array.isArray(body) }
}

function parsed(given: unknown): JSONRPCMessage {
  requireShortId(given)
  try {
    return parseJSONRPCMessage(given)
  } catch (cause) {
    throw new Problem('invalid-request', { detail: 'The body is not a JSON-RPC 2.0 message.', cause })
  }
}

function requireShortId(given: unknown): void {
  const { max } = inputLimits.jsonRpcId
  const id = (given as { id?: unknown } | null)?.id
  if (typeof id !== 'string' || id.length <= max) return
  throw new Problem('invalid-request', {
    field: 'id',
    detail: `id: is longer than ${max} characters. Send a shorter one.`,
    extra: { limit: 'jsonRpcId', max },
  })
}

export function notificationsIn(messages: readonly JSONRPCMessage[]): JSONRPCNotification[] {
  return messages.filter(isJSONRPCNotification)
}

/** Whether a client wants notifications of progress: then the answer is a stream. */
export function wantsProgress(messages: readonly JSONRPCMessage[]): boolean {
  return messages.some(
    (message) =>
      isJSONRPCRequest(message) &&
      (message.params?._meta as Record<string, unknown> | undefined)?.progressToken !== undefined,
  )
}
