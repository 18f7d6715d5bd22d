import { once } from 'node:events'
import type { Request, Response } from 'express'

/** Comments this often keep proxies from closing a quiet stream. */
export const keepAliveMs = 15_000

/** A signal that aborts when the client goes away, or the gateway stops. */
export function untilClosed(_req: Request, res: Response, stopping: AbortSignal): AbortSignal {
  const closed = new AbortController()
  if (res.closed) closed.abort()
  res.once('close', () => {
    // Whoever was answered in full has nobody waiting; to abort costs an exception with its stack.
    if (!res.writableFinished) closed.abort()
  })
  return AbortSignal.any([closed.signal, stopping])
}

/** Starts a Server-Sent Events answer. Answers a function that writes one event, and waits for a slow reader. */
export function startEventStream(
  res: Response,
  signal: AbortSignal,
): (event: { id: string; type: string; data: string }) => Promise<void> {
  res.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
    // A stream is the last answer of its connection: nothing is left to wait for when it ends.
    Connection: 'close',
    'X-Accel-Buffering': 'no',
  })
  res.flushHeaders()
  const timer = setInterval(() => res.write(': keep-alive\n\n'), keepAliveMs)
  res.once('close', () => clearInterval(timer))
  return async ({ id, type, data }) => {
    if (signal.aborted) return
    if (!res.write(`id: ${id}\nevent: ${type}\ndata: ${data}\n\n`)) {
      await once(res, 'drain', { signal }).catch(() => {})
    }
  }
}
