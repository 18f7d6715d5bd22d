import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type Clock, sleep } from '../../../lib/clock.ts'

/** Changes of one resource within this time are one notification. */
const gapMs = 100

/**
 * Notifies a reader of changed resources: the first time at once, then at most every 100 ms, and only when it has read the earlier
 * notifications. Meanwhile only a set of URIs is kept, however much changes.
 */
export class PacedUpdates {
  readonly #clock: Clock
  readonly #res: ServerResponse
  readonly #signal: AbortSignal
  readonly #tell: (uris: readonly string[]) => void
  readonly #changed = new Set<string>()
  #isTelling = false

  constructor(clock: Clock, res: ServerResponse, signal: AbortSignal, tell: (uris: readonly string[]) => void) {
    this.#clock = clock
    this.#res = res
    this.#signal = signal
    this.#tell = tell
  }

  add(uris: Iterable<string>): void {
    for (const uri of uris) this.#changed.add(uri)
    if (this.#isTelling || this.#changed.size === 0) return
    this.#isTelling = true
    void this.#run()
  }

  async #run(): Promise<void> {
    while (this.#changed.size > 0 && !this.#signal.aborted) {
      await this.#taken()
      if (this.#signal.aborted) break
      const uris = [...this.#changed]
      this.#changed.clear()
      this.#tell(uris)
      await sleep(this.#clock, gapMs, this.#signal)
    }
    this.#isTelling = false
  }

  async #taken(): Promise<void> {
    const signal = this.#signal
    while (this.#res.writableNeedDrain && !signal.aborted) await once(this.#res, 'drain', { signal }).catch(() => {})
  }
}
