import { type Clock, sleep } from '../../lib/clock.ts'
import type { LogNotifier } from '../../log/log-notifier.ts'
import { type PiggybackContext, urgentIn } from './piggyback.ts'

interface AwaitMailContext extends PiggybackContext {
  readonly notifier: LogNotifier
  readonly clock: Clock
}

interface Wait {
  readonly timeoutMs: number
  /** Aborts when the caller waits no longer. */
  readonly signal: AbortSignal
}

/** A lost notification costs this much time. */
const lookAgainMs = 15_000

/** Resolves when mail that wakes an agent can go along with an answer, at the time-out, or when the signal aborts. Takes nothing. */
export async function awaitMail(
  context: AwaitMailContext,
  agent: { readonly id: string; readonly projectId: string },
  { timeoutMs, signal }: Wait,
): Promise<void> {
  const { notifier, clock } = context
  const over = new AbortController()
  const end = (): void => over.abort()
  let bell = new AbortController()
  const ring = (): void => bell.abort()
  const cancel = clock.after(timeoutMs, end)
  const leave = notifier.listen(agent.id, ring, agent.projectId)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  over.signal.addEventListener('abort', ring, { once: true })
  const delay = pace(clock)
  try {
    while (!over.signal.aborted) {
      bell = new AbortController()
      const urgent = await urgentIn(context, agent.id, clock.now())
      if (urgent === 0) return
      if (over.signal.aborted) return
      await sleep(clock, Math.min(urgent ?? lookAgainMs, lookAgainMs), bell.signal)
      await sleep(clock, delay(), over.signal)
    }
  } finally {
    cancel()
    leave()
    signal.removeEventListener('abort', end)
  }
}

/** Looks that may follow each other at once, and the time in which one more may. */
const looksMax = 4
const lookEveryMs = 250

/**
 * Returns how long to wait before each look, in ms. The commits of other gateways come without their audience, so each of them could
 * mean mail: without a bound, every waiting agent would look at each of them.
 */
function pace(clock: Clock): () => number {
  let left = looksMax
  let at = clock.now()
  return () => {
    const now = clock.now()
    left = Math.min(looksMax, left + Math.max(0, now - at) / lookEveryMs) - 1
    at = now
    return left >= 0 ? 0 : -left * lookEveryMs
  }
}
