import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'

/** How late the event loop of a gateway was, in ms. */
export interface LoopDelay {
  readonly p99: number
  readonly max: number
}

/** Reads the event loop of a gateway that runs in another process. */
export class LoopDelayReader {
  readonly #file: string
  #count = 0

  /** @param file where the gateway writes to; its directory exists */
  constructor(file: string) {
    this.#file = file
  }

  /** What the gateway has to be started with. */
  get env(): Record<string, string> {
    return {
      NODE_OPTIONS: `--import ${resolve(import.meta.dirname, 'loop-delay.mjs')}`,
      MISUSE_LOOP_DELAY_FILE: this.#file,
    }
  }

  /** Since the last report. */
  async take(gateway: ProcessGateway): Promise<LoopDelay> {
    gateway.signal('SIGUSR2')
    const count = ++this.#count
    return until(
      () => this.#read(),
      (report) => report?.count === count,
      10_000,
    ) as Promise<LoopDelay & { count: number }>
  }

  #read(): (LoopDelay & { count: number }) | undefined {
    try {
      return existsSync(this.#file) ? JSON.parse(readFileSync(this.#file, 'utf8')) : undefined
    } catch {
      // It is being written.
      return undefined
    }
  }
}
