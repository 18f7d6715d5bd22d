import type { Clock } from './clock.ts'

interface WriteBehindOptions {
  readonly clock: Clock
  /** Writes everything that waits. What a failed write leaves waiting is written by the next one. */
  readonly write: () => Promise<void>
  /** How long after a failed write the next one begins. */
  readonly retryMs: number
  /** Called with the error of every failed write. */
  readonly failed: (error: unknown) => void
}

/**
 * Decides when a batch that gathers in memory is written: after a delay, one write at a time, again after a failure, and once
 * more at the end. The owner keeps the batch.
 */
export class WriteBehind implements AsyncDisposable {
  readonly #options: WriteBehindOptions
  #cancel: (() => void) | undefined
  #dueAt = 0
  #writing: Promise<boolean> = Promise.resolve(true)
  #isClosed = false

  constructor(options: WriteBehindOptions) {
    this.#options = options
  }

  /** True when the last write has begun. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Begins a write after `delayMs`, or earlier when one is due earlier. */
  schedule(delayMs: number): void {
    if (this.#isClosed) return
    const { clock } = this.#options
    const dueAt = clock.now() + delayMs
    if (this.#cancel) {
      if (this.#dueAt <= dueAt) return
      this.#cancel()
    }
    this.#dueAt = dueAt
    this.#cancel = clock.after(delayMs, () => void this.flush())
  }

  /** Writes now, after a write that is under way. Resolves to whether it succeeded. */
  flush(): Promise<boolean> {
    this.#cancel?.()
    this.#cancel = undefined
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await this.flush()
  }

  async #write(): Promise<boolean> {
    const { write, failed, retryMs } = this.#options
    try {
      await write()
      return true
    } catch (error) {
      failed(error)
      this.schedule(retryMs)
      return false
    }
  }
}
