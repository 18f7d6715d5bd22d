import { type Clock, sleep } from './clock.ts'

/** Work that is repeated. */
export interface Sweep {
  /** Its name, in the log and as a lease: `retention`. */
  readonly name: string
  /** Time between two passes, in ms. */
  readonly everyMs: number
  /** Delay of the first pass after the start, in ms. Default 0. */
  readonly firstAfterMs?: number
  /** Does one pass. True: there is more to do at once. `signal` aborts when the sweeper stops. */
  run(signal: AbortSignal): Promise<boolean>
}

interface SweeperOptions {
  readonly clock: Clock
  /** Called when a pass has failed. The next pass comes as planned. */
  readonly failed: (error: unknown, sweep: string) => void
  /** True when this gateway does the sweep now. Default: always. */
  readonly holdsLease?: (sweep: string) => Promise<boolean>
}

/** Repeats a sweep until it is stopped. */
export class Sweeper implements AsyncDisposable {
  readonly #sweep: Sweep
  readonly #options: SweeperOptions
  readonly #stopping = new AbortController()
  #loop: Promise<void> | undefined

  constructor(sweep: Sweep, options: SweeperOptions) {
    this.#sweep = sweep
    this.#options = options
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
    const { name, everyMs, firstAfterMs = 0 } = this.#sweep
    const { clock, failed, holdsLease } = this.#options
    const { signal } = this.#stopping
    if (firstAfterMs > 0) await sleep(clock, firstAfterMs, signal)
    while (!signal.aborted) {
      try {
        const isMine = holdsLease === undefined || (await holdsLease(name))
        if (isMine && (await this.#sweep.run(signal))) continue
      } catch (error) {
        failed(error, name)
      }
      await sleep(clock, everyMs, signal)
    }
  }
}
