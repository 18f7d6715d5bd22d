import { retryWaitMaxMs } from '../channel.ts'

/** A run waits this long itself. A longer wait (a receiver requested it) is left to the store, and the run ends. */
const sleepMaxMs = 10_000

export type RetryWait =
  | { readonly wait: 'none' }
  | { readonly wait: 'sleep'; readonly delayMs: number }
  /** The lease is requeued, due when the retry is. */
  | { readonly wait: 'requeue' }

/** Returns how a run waits for a retry. Pure. Instants in ms since the epoch. */
export function retryWait(nextAttemptAt: number, now: number): RetryWait {
  const delayMs = nextAttemptAt - now
  // No channel asks for a wait this long: the clock was set back since, and how much of the wait is left is unknown.
  if (delayMs > retryWaitMaxMs) return { wait: 'none' }
  if (delayMs > sleepMaxMs) return { wait: 'requeue' }
  return delayMs > 0 ? { wait: 'sleep', delayMs } : { wait: 'none' }
}
