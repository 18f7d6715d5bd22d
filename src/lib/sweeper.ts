import { type Clock, sleep } from './clock.ts'

interface Sweeping {
  readonly clock: Clock
  readonly everyMs: number
  /** How long after its start the first pass comes. */
  readonly firstAfterMs?: number
  /** Whether this gateway is the one to sweep. */
  readonly isTurn?: (() => Promise<boolean>) | undefined
  /** Hears of a pass that failed; the next one comes all the same. */
  readonly failed: (error: unknown) => void
}

/** Does one thing again and again until it is stopped. */
export abstract class Sweeper implements AsyncDisposable {
  readonly #sweeping: Sweeping
  readonly #stopping = new AbortController()
  #loop: Promise<void> | undefined

  protected constructor(sweeping: Sweeping) {
    this.#sweeping = sweeping
  }

  /** One pass. True: there is more to do at once. */
  protected abstract sweep(): Promise<boolean>

  /** Aborts when it is stopped. */
  protected get signal(): AbortSignal {
    return this.#stopping.signal
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #run(): Promise<void> {
    const { clock, everyMs, firstAfterMs = 0, isTurn, failed } = this.#sweeping
    if (firstAfterMs > 0) await sleep(clock, firstAfterMs, this.signal)
    while (!this.signal.aborted) {
      try {
        const isMine = isTurn === undefined || (await isTurn())
        if (isMine && (await this.sweep())) continue
      } catch (error) {
        failed(error)
      }
      await sleep(clock, everyMs, this.signal)
    }
  }
}
