import type { Response } from 'express'

/** Returns a signal that aborts when the client is gone before its answer was sent, or when one of the others aborts. */
export function untilGone(res: Response, ...others: AbortSignal[]): AbortSignal {
  const gone = new AbortController()
  if (res.closed) gone.abort()
  res.once('close', () => {
    // After a complete answer nothing waits for the signal, and an abort would cost an exception with its stack.
    if (!res.writableFinished) gone.abort()
  })
  return others.length === 0 ? gone.signal : AbortSignal.any([gone.signal, ...others])
}
