import type { Clock } from '../lib/clock.ts'
import { Sweeper } from '../lib/sweeper.ts'
import type { Logger } from '../logger.ts'

/** The longest time after which a gateway notices that a key was replaced elsewhere, or has ended. */
export const keyWatchMs = 5_000

/** Reads the stored keys regularly, so that a replaced key needs no restart. */
export class KeyWatch extends Sweeper {
  readonly #refresh: () => Promise<void>

  constructor({ clock, log }: { clock: Clock; log: Logger }, refresh: () => Promise<void>) {
    const failed = (error: unknown): void => log.error({ err: error }, 'keys.refresh_failed')
    super({ clock, everyMs: keyWatchMs, firstAfterMs: keyWatchMs, failed })
    this.#refresh = refresh
  }

  /** Reads the keys once. */
  runOnce(): Promise<void> {
    return this.#refresh()
  }

  protected async sweep(): Promise<boolean> {
    await this.#refresh()
    return false
  }
}
