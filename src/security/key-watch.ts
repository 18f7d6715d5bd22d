import type { Clock } from '../lib/clock.ts'
import { Sweeper } from '../lib/sweeper.ts'
import type { Logger } from '../logger.ts'

/** How late a gateway hears of a key that was replaced elsewhere, or that has ended. */
export const keyWatchMs = 5_000

/** Looks again and again at the keys that are kept, so that one that was replaced needs no restart. */
export class KeyWatch extends Sweeper {
  readonly #refresh: () => Promise<void>

  constructor({ clock, log }: { clock: Clock; log: Logger }, refresh: () => Promise<void>) {
    const failed = (error: unknown): void => log.error({ err: error }, 'keys.refresh_failed')
    super({ clock, everyMs: keyWatchMs, firstAfterMs: keyWatchMs, failed })
    this.#refresh = refresh
  }

  /** One look. */
  runOnce(): Promise<void> {
    return this.#refresh()
  }

  protected async sweep(): Promise<boolean> {
    await this.#refresh()
    return false
  }
}
