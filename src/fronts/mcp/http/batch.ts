import { isJSONRPCNotification, isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server'
import { Problem } from '../../../errors.ts'
import { requireStillValid, type StillValidContext } from '../../../identity/authenticate.ts'
import type { McpSession } from '../../../mcp-sessions/mcp-session.ts'
import { newBulk } from '../../../registry/shares/large-spacing.ts'
import { bearerKey } from '../../auth.ts'
import { leaveDoor } from '../../door.ts'
import { readerOf } from '../../unsent.ts'
import { untilGone } from '../../until-gone.ts'
import type { McpFrontContext } from './context.ts'
import type { Exchanged, Post } from './exchange.ts'
import { paramsFlaw } from './params-flaw.ts'
import { rpcError } from './rpc-problem.ts'

/** The last protocol version with batches. */
const batchesUntil = '2025-03-26'

/** Has a server answer one request, which has a place. undefined: the client is gone, or its key has ended. */
type AnswerOne = (request: JSONRPCRequest, inPlace: Pick<Exchanged, 'waits' | 'place'>) => Promise<string | undefined>

/** Errors: `invalid-request` for a batch in a session of a protocol version that has none. Source: MCP 2025-06-18, Key Changes. */
export function requireBatches({ protocolVersion }: McpSession): void {
  if (protocolVersion <= batchesUntil) return
  throw new Problem('invalid-request', {
    detail: `The protocol version ${protocolVersion} has no batches. Send one message in each request.`,
  })
}

/**
 * Answers the messages of a batch one after the other. Each message counts as a request of its caller and takes a place, so that a batch
 * may do no more than its messages could do alone. A message without a free place is refused, and the rest is answered. Once the key has
 * ended, every further message is refused.
 */
export async function answerBatch(
  context: Pick<McpFrontContext, 'shares' | 'unsent' | 'mcp'> & StillValidContext,
  { caller, req, res, posted }: Post,
  session: McpSession,
  answerOne: AnswerOne,
): Promise<void> {
  const { shares, unsent, mcp } = context
  leaveDoor(res)
  const answers: string[] = []
  const unread: (() => void)[] = []
  let signal: AbortSignal | undefined
  // One for all messages: each would listen to the same answer.
  const gone = (): AbortSignal => {
    signal ??= untilGone(res)
    return signal
  }
  /** Undefined: nobody reads the answer. */
  const answerInPlace = async (request: JSONRPCRequest): Promise<string | undefined> => {
    if (answers.length > 0) shares.spendRequest(caller)
    unsent.requireRoom(readerOf(caller))
    const bulk = newBulk({ what: undefined, bytes: 0, gone })
    const leave = await shares.enter(caller, bulk)
    try {
      if (res.closed) return undefined
      requireStillValid(context, caller, bearerKey(req))
      const flaw = paramsFlaw(request)
      return flaw ? JSON.stringify(flaw) : await answerOne(request, { waits: leave, place: bulk.place })
    } finally {
      leave()
    }
  }
  try {
    for (const message of posted.messages) {
      if (isJSONRPCNotification(message)) mcp.inFlight.notify(session.id, message)
      if (!isJSONRPCRequest(message)) continue
      const answer = await answerInPlace(message).catch((error: unknown) => refused(error, message))
      if (answer === undefined) return void res.destroy()
      unread.push(unsent.add(readerOf(caller), answer.length))
      answers.push(answer)
    }
  } finally {
    for (const forget of unread) forget()
  }
  res.setHeader('Content-Type', 'application/json')
  res.end(`[${answers.join(',')}]`)
}

function refused(error: unknown, { id }: JSONRPCRequest): string {
  if (error instanceof Problem && error.status < 500) return JSON.stringify({ ...rpcError(error, '/mcp'), id })
  throw error
}
