import type { Wake } from '../../client/wakes/wake.ts'

/** Handles wakes one at a time, in the order of their arrival. */
export class WakeQueue {
  readonly #handle: (wake: Wake) => Promise<void>
  readonly #waiting: Wake[] = []
  #running: Promise<void> | undefined
  #stopped = false

  constructor(handle: (wake: Wake) => Promise<void>) {
    this.#handle = handle
  }

  add(wake: Wake): void {
    this.#waiting.push(wake)
    this.#running ??= this.#run()
  }

  /** Waits for the running one, and returns those that never ran. */
  async stop(): Promise<readonly Wake[]> {
    this.#stopped = true
    await this.#running
    return this.#waiting
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const wake = this.#waiting.shift()
      if (!wake) break
      await this.#handle(wake)
    }
    this.#running = undefined
  }
}
