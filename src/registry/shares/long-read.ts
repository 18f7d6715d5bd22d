import { companyLimits } from '../../gateway-limits.ts'
import { Pauses } from '../../lib/pauses.ts'

/**
 * A search that reads more than it answers. It is counted by what it reads, and other requests go on between its steps. It is counted
 * in parts while it reads: a search that is refused has read one part only.
 */
export class LongRead {
  /** What was read so far, in bytes. */
  size = 0
  readonly #beginReading: (bytes: number) => Promise<void>
  readonly #pauses: Pauses
  #uncounted = 0

  /** @param by the id of the caller that searches */
  constructor(beginReading: (bytes: number) => Promise<void>, by: string) {
    this.#beginReading = beginReading
    this.#pauses = new Pauses(by)
  }

  /** Counts what one step has read. Errors: those of `beginReading`. */
  async after(bytes: number): Promise<void> {
    this.size += bytes
    this.#uncounted += bytes
    // A small part would be taken for the whole content, and the large ones after it would not wait.
    if (this.#uncounted > companyLimits.largeBytes.max) await this.end()
    await this.#pauses.after(bytes)
  }

  /** Counts the rest. Errors: those of `beginReading`. */
  async end(): Promise<void> {
    const bytes = this.#uncounted
    this.#uncounted = 0
    if (bytes > 0) await this.#beginReading(bytes)
  }
}
