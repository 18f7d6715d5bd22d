import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server'
import type { Request, RequestHandler, Response } from 'express'
import { Problem } from '../../errors.ts'
import { streamHeaders } from '../http/sse.ts'
import { sendRpcResult } from './answer.ts'
import type { A2aCall } from './call.ts'

/**
 * JSON-RPC in both versions, by the SDK's transport handlers. The SDK's Express router is not used, because it prints a stack to
 * the console for every refused stream, such as one for a mistyped task id.
 */
export function jsonRpcRoute(handler: A2ARequestHandler, callOf: (req: Request) => A2aCall): RequestHandler {
  const current = new JsonRpcTransportHandler(handler)
  const legacy = new LegacyJsonRpcTransportHandler(handler)
  return async (req, res, next) => {
    if (req.method !== 'POST') return next()
    const call = callOf(req)
    const requestedVersion = req.get('a2a-version') || '0.3'
    const context = new ServerCallContext({ user: call, requestedVersion })
    const isLegacy = requestedVersion === '0.3'
    const answer = await (isLegacy ? legacy : current).handle(req.body, context)
    if (!(Symbol.asyncIterator in answer)) {
      if (isOfCaller(call.failure)) return next(call.failure)
      if ('error' in answer) res.json(answer)
      else await sendRpcResult(res, answer)
      return
    }
    const toError = isLegacy
      ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError
      : JsonRpcTransportHandler.mapToJSONRPCError
    const refusal = (error: unknown) => ({ jsonrpc: '2.0', id: req.body.id ?? null, error: toError(error) })
    try {
      await sendStream(res, answer)
    } catch (error) {
      if (res.headersSent) res.end(`event: error\ndata: ${JSON.stringify(refusal(error))}\n\n`)
      else if (isOfCaller(call.failure)) next(call.failure)
      else res.json(refusal(error))
    }
  }
}

/**
 * True when a failure is about who calls: a key that was revoked meanwhile, or an act that this caller is not allowed. It gets the
 * same 401 or 403 as a call that is refused before its operation begins (specification §3.3.2).
 */
function isOfCaller(failure: unknown): boolean {
  return failure instanceof Problem && (failure.status === 401 || failure.status === 403)
}

/** Writes the events. If the first one fails, no headers are sent yet, so the caller can answer with a plain error. */
async function sendStream(res: Response, events: AsyncGenerator<unknown, void, undefined>): Promise<void> {
  for await (const event of events) {
    if (!res.headersSent) start(res)
    res.write(`data: ${JSON.stringify(event)}\n\n`)
  }
  if (!res.headersSent) start(res)
  res.end()
}

function start(res: Response): void {
  res.set(streamHeaders)
  res.flushHeaders()
}
