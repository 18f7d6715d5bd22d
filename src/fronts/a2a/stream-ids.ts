import type { Request, RequestHandler } from 'express'
import { keepAliveMs } from '../sse.ts'
import type { A2aCall } from './call.ts'

/**
 * Gives each event of an SDK stream an SSE id, its logId, so that a client can reconnect with Last-Event-ID and miss nothing;
 * and keeps quiet streams open with comments. The SDK writes one whole event a call and knows neither.
 */
export function identifyEvents(callOf: (req: Request) => A2aCall): RequestHandler {
  return (req, res, next) => {
    const call = callOf(req)
    const write = res.write.bind(res) as (chunk: unknown, ...rest: unknown[]) => boolean
    const isStream = () => String(res.getHeader('content-type') ?? '').startsWith('text/event-stream')
    let timer: NodeJS.Timeout | undefined
    const keepAlive = () => {
      timer = setInterval(() => res.writableEnded || write(': keep-alive\n\n'), keepAliveMs)
      res.once('close', () => clearInterval(timer))
    }
    res.write = ((chunk: unknown, ...rest: unknown[]) => {
      const position = call.position
      call.position = undefined
      if (!timer && isStream()) keepAlive()
      const marked = position !== undefined && typeof chunk === 'string' && chunk.startsWith('data:') && isStream()
      return write(marked ? `id: ${position}\n${chunk}` : chunk, ...rest)
    }) as typeof res.write
    next()
  }
}
