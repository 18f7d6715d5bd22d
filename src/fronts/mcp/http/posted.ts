import { type JSONRPCMessage, type JSONRPCRequest, parseJSONRPCMessage } from '@modelcontextprotocol/server'
import type { Request, Response } from 'express'
import { Problem } from '../../../errors.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { inputLimits, mcpLimits } from '../../../limits.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { liberalMessage } from '../liberal-message.ts'

/** One POST of a caller. */
export interface Post {
  readonly caller: Caller
  /** Of the client. */
  readonly address: string
  readonly req: Request
  readonly res: Response
  /** The messages of the body. */
  readonly messages: readonly JSONRPCMessage[]
  /** Several messages, or one in a list. */
  readonly isBatch: boolean
}

/** Returns the messages of a body: one, or a batch of protocol versions up to 2025-03-26. Errors: `invalid-request`. Pure. */
export function postedIn(body: unknown): Pick<Post, 'messages' | 'isBatch'> {
  const { max } = mcpLimits.mcpBatch
  const given = Array.isArray(body) ? body : [body]
  if (given.length === 0 || given.length > max) {
    throw new Problem('invalid-request', {
      detail: `A batch has 1 to ${max} messages; this one has ${given.length}.`,
      extra: { limit: 'mcpBatch', max },
    })
  }
  return { messages: given.map(parsed), isBatch: Array.isArray(body) }
}

function parsed(given: unknown): JSONRPCMessage {
  requireShortId(given)
  try {
    return parseJSONRPCMessage(liberalMessage(given))
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    throw new Problem('invalid-request', {
      detail:
        'The body is not a JSON-RPC 2.0 message: {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}, whose id is a string or an integer.',
      cause,
    })
  }
}

function requireShortId(given: unknown): void {
  const { max } = inputLimits.jsonRpcId
  if (!isJsonObject(given) || typeof given.id !== 'string' || given.id.length <= max) return
  throw new Problem('invalid-request', {
    field: 'id',
    detail: `id: is longer than ${max} characters. Send a shorter one.`,
    extra: { limit: 'jsonRpcId', max },
  })
}

/** Whether a client reads progress of a request: it names a token for it, and takes a stream. */
export function readsProgress(req: Request, { params }: JSONRPCRequest): boolean {
  return params?._meta?.progressToken !== undefined && Boolean(req.accepts('text/event-stream'))
}
