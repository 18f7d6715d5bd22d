import type { LogEvent } from './event.ts'

/** Events after a watermark, in order. */
export interface Page {
  readonly events: readonly LogEvent[]
  /** The watermark to continue from: no later event belongs before it. */
  readonly upTo: number
  /** True when the log may already hold more. */
  readonly more: boolean
}

interface Reading {
  readonly began: number
  readonly after: number
  readonly page: Promise<Page>
}

/**
 * Shares one read of the log among all followers of the same key: a commit that concerns a thousand followers is read once. A
 * follower shares only a read that began after its notification, so that it gets at least what was there when it was notified.
 */
export class SharedPages {
  readonly #readings = new Map<string, Reading>()
  #tick = 0

  /** Returns a moment: every read from now on begins after it. */
  now(): number {
    this.#tick += 1
    return this.#tick
  }

  /** Returns the events of a key after a watermark, from a read that began after `notifiedAt`. */
  async read(
    key: string,
    { after, notifiedAt }: { readonly after: number; readonly notifiedAt: number },
    read: (after: number) => Promise<Page>,
  ): Promise<Page> {
    const known = this.#readings.get(key)
    if (known && known.began > notifiedAt && known.after <= after) {
      const { events, upTo, more } = await known.page
      // A full page that ends before the watermark says nothing about what follows it.
      if (!more || upTo > after)
        return { events: events.filter(({ logId }) => logId > after), upTo: Math.max(upTo, after), more }
    }
    const reading = { began: this.now(), after, page: read(after) }
    this.#readings.set(key, reading)
    const drop = (): void => {
      if (this.#readings.get(key) === reading) this.#readings.delete(key)
    }
    // All followers that share it have requested it by then.
    reading.page.then(
      () => setImmediate(drop),
      () => drop(),
    )
    return reading.page
  }
}
