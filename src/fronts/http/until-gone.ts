import type { Response } from 'express'

/** An abort without a reason makes an exception with its stack: for each of the clients that leave together. */
const clientGone = new DOMException('The client has gone away.', 'AbortError')

/** Returns a signal that aborts when the client is gone before its answer was sent, or when one of the others aborts. */
export function untilGone(res: Response, ...others: AbortSignal[]): AbortSignal {
  const gone = new AbortController()
  if (res.closed) gone.abort(clientGone)
  res.once('close', () => {
    // After a complete answer nothing waits for the signal.
    if (!res.writableFinished) gone.abort(clientGone)
  })
  return others.length === 0 ? gone.signal : AbortSignal.any([gone.signal, ...others])
}
