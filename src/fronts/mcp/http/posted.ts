import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/server'
import type { Request, Response } from 'express'
import type { Slot } from '../../../admission/slots.ts'
import { Problem } from '../../../errors.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { sizeLimits } from '../../../limits.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { readMessage } from '../liberal-message.ts'
import type { ToolSet } from '../tools/tool.ts'

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
  /** Of each of its requests, one at a time. */
  readonly slot: Slot
  /** The tools that it asks for in the place of those of agents. */
  readonly toolSet: ToolSet | undefined
}

/** Returns the messages of a body: one, or a batch of protocol versions up to 2025-03-26. Errors: `invalid-request`. Pure. */
export function postedIn(body: unknown): Pick<Post, 'messages' | 'isBatch'> {
  const { max } = sizeLimits.items
  const given = Array.isArray(body) ? body : [body]
  if (given.length === 0 || given.length > max) {
    throw new Problem('invalid-request', {
      detail: `A batch has 1 to ${max} messages; this one has ${given.length}.`,
      extra: { limit: 'items', max },
    })
  }
  return { messages: given.map(withShortId).map(readMessage), isBatch: Array.isArray(body) }
}

function withShortId(given: unknown): unknown {
  const { max } = sizeLimits.id
  if (!isJsonObject(given) || typeof given.id !== 'string' || given.id.length <= max) return given
  throw new Problem('invalid-request', {
    field: 'id',
    detail: `id: is longer than ${max} characters. Send a shorter one.`,
    extra: { limit: 'id', max },
  })
}

/** True when the answer to a request is a stream: its client takes one, and names a token for progress, or asks for events. */
export function isStreamed(req: Request, { method, params }: JSONRPCRequest): boolean {
  const wants = method === 'events/stream' || params?._meta?.progressToken !== undefined
  return wants && Boolean(req.accepts('text/event-stream'))
}
