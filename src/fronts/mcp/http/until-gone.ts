import type { Response } from 'express'

/** Returns a signal that aborts when the client is gone before its answer was sent, or when the other one aborts. */
export function untilGone(res: Response, other: AbortSignal): AbortSignal {
  const gone = new AbortController()
  if (res.closed) gone.abort()
  res.once('close', () => {
    if (!res.writableFinished) gone.abort()
  })
  return AbortSignal.any([gone.signal, other])
}
