import type { Response } from 'express'
import type { Clock } from '../../../lib/clock.ts'
import { leaveDoor } from '../../door.ts'

/** What takes longer waits for something, and frees its place: a caller has few of them. */
const quickMs = 1_000

/** Returns a signal that aborts when the client is gone before its answer was sent, or when the other one aborts. */
export function untilGone(clock: Clock, res: Response, other: AbortSignal): AbortSignal {
  const stop = clock.after(quickMs, () => leaveDoor(res))
  const gone = new AbortController()
  if (res.closed) gone.abort()
  res.once('close', () => {
    stop()
    if (!res.writableFinished) gone.abort()
  })
  return AbortSignal.any([gone.signal, other])
}
