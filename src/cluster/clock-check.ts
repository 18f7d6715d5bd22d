import type { Logger } from '../logger/logger.ts'

/** A clock that differs more from that of the store is wrong: what it calls expired or silent may be neither. */
const offsetMaxMs = 5_000

/** Whether the gateway's clock agrees with that of the store. A change is logged once. */
export class ClockCheck {
  readonly #log: Logger
  #isRight = true

  constructor(log: Logger) {
    this.#log = log
  }

  get isRight(): boolean {
    return this.#isRight
  }

  /** @param offsetMs the time of this gateway minus that of the store, in ms */
  note(offsetMs: number): void {
    const isRight = Math.abs(offsetMs) <= offsetMaxMs
    if (isRight === this.#isRight) return
    this.#isRight = isRight
    if (isRight) this.#log.info({ offsetMs }, 'gateway.clock_right')
    else this.#log.error({ offsetMs }, 'gateway.clock_wrong')
  }
}
