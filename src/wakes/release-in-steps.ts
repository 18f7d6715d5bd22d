import type { Logger } from '../logger/logger.ts'
import type { Database } from '../storage/database.ts'
import { releaseStep, retryHeldOf } from './store/retry-held.ts'

interface StepContext {
  readonly db: Database
  readonly log: Logger
  /** Notifies the engine that a subscription has changed. */
  readonly changed: (subscriptionId: string) => void
}

/**
 * Releases what presence held for the subscriptions that `retryHeld` has left, some in a transaction, with an iteration of the event loop
 * before each. Each step goes by the presence that is known by then. What a step that fails, or the end of the process, leaves held is
 * found by `missedEdgeSweep`.
 */
export async function releaseLeft({ db, log, changed }: StepContext, left: readonly string[]): Promise<void> {
  try {
    for (let at = 0; at < left.length; at += releaseStep) {
      await new Promise(setImmediate)
      const released = await db.transaction((tx) => retryHeldOf(tx, left.slice(at, at + releaseStep)))
      released.forEach(changed)
    }
  } catch (err) {
    log.warn({ err }, 'wakes.release_failed')
  }
}
