import type { LogEvent } from './event.ts'

/** Events behind a watermark, in order. */
export interface Page {
  readonly events: readonly LogEvent[]
  /** Nothing that comes later belongs before this: the watermark to go on from. */
  readonly upTo: number
  /** Whether there may be more that is there already. */
  readonly more: boolean
}

interface Reading {
  readonly began: number
  readonly after: number
  readonly page: Promise<Page>
}

/**
 * One read of the log for all who follow the same thing: a commit that concerns a thousand followers is read once. A read is
 * shared with whoever was told to look before it began, so that nobody is given less than was there when it was told.
 */
export class SharedPages {
  readonly #readings = new Map<string, Reading>()
  #tick = 0

  /** A moment: what is read from now on began after it. */
  now(): number {
    this.#tick += 1
    return this.#tick
  }

  /** The events of a key behind a watermark, from a read that began after `told`. */
  async read(
    key: string,
    { after, told }: { readonly after: number; readonly told: number },
    read: (after: number) => Promise<Page>,
  ): Promise<Page> {
    const known = this.#readings.get(key)
    if (known && known.began > told && known.after <= after) {
      const { events, upTo, more } = await known.page
      // A full page that ends before the watermark says nothing of what is behind it.
      if (!more || upTo > after)
        return { events: events.filter(({ logId }) => logId > after), upTo: Math.max(upTo, after), more }
    }
    const reading = { began: this.now(), after, page: read(after) }
    this.#readings.set(key, reading)
    const drop = (): void => {
      if (this.#readings.get(key) === reading) this.#readings.delete(key)
    }
    // Whoever shares it has asked by then.
    reading.page.then(
      () => setImmediate(drop),
      () => drop(),
    )
    return reading.page
  }
}
