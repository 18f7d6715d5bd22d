import { once } from 'node:events'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server'
import type { Request, RequestHandler, Response } from 'express'
import type { A2aCall } from './call.ts'

/**
 * JSON-RPC in both versions, by the SDK's transport handlers. Its Express router is not used: that prints every stream
 * which is refused, a mistyped task id included, with a stack to the console, and never waits for a slow reader.
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
      res.json(answer)
      return
    }
    const toError = isLegacy
      ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError
      : JsonRpcTransportHandler.mapToJSONRPCError
    const refusal = (error: unknown) => ({ jsonrpc: '2.0', id: req.body.id ?? null, error: toError(error) })
    await sendStream(res, call.signal, answer, refusal)
  }
}

/** A stream that fails before its first event is answered as any call; one that fails later ends with an error event. */
async function sendStream(
  res: Response,
  signal: AbortSignal,
  events: AsyncGenerator<unknown, void, undefined>,
  refusal: (error: unknown) => object,
): Promise<void> {
  try {
    for await (const event of events) {
      if (!res.headersSent) startStream(res)
      if (!res.write(`data: ${JSON.stringify(event)}\n\n`)) await once(res, 'drain', { signal }).catch(() => {})
    }
    if (!res.headersSent) startStream(res)
    res.end()
  } catch (error) {
    if (res.headersSent) res.end(`event: error\ndata: ${JSON.stringify(refusal(error))}\n\n`)
    else res.json(refusal(error))
  }
}

function startStream(res: Response): void {
  res.set({
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
    // A stream is the last answer of its connection: nothing is left to wait for when it ends.
    Connection: 'close',
    'X-Accel-Buffering': 'no',
  })
  res.flushHeaders()
}
