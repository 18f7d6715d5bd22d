/** The gateway's time, in milliseconds since the epoch. Injected everywhere, so that tests control it. */
export interface Clock {
  now(): number
  /** Runs `work` after `delayMs`; the returned function cancels it. */
  after(delayMs: number, work: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, work) => {
    const timer = setTimeout(work, delayMs)
    return () => clearTimeout(timer)
  },
}

/** A clock that is never set: in ms since the process began. For waits that do not depend on the time of day. */
export const steadyClock: Clock = { now: () => performance.now(), after: systemClock.after }

/** Resolves after `delayMs`, or at once when the signal aborts. Never rejects: callers check the signal. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const cancel = clock.after(delayMs, done)
    function done() {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
  })
}
