import { type Clock, sleep } from './clock.ts'

interface Sweeping {
  readonly clock: Clock
  readonly everyMs: number
  /** Delay of the first pass after the start. */
  readonly firstAfterMs?: number
  /** Whether this gateway does the sweep now. */
  readonly isTurn?: (() => Promise<boolean>) | undefined
  /** Called when a pass has failed. The next pass comes as planned. */
  readonly failed: (error: unknown) => void
}

/** Repeats one piece of work until it is stopped. */
export abstract class Sweeper implements AsyncDisposable {
  readonly #sweeping: Sweeping
  readonly #stopping = new AbortController()
  #loop: Promise<void> | undefined

  protected constructor(sweeping: Sweeping) {
    this.#sweeping = sweeping
  }

  /** Does one pass. True: there is more to do at once. */
  protected abstract sweep(): Promise<boolean>

  /** Aborts when the sweeper stops. */
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
