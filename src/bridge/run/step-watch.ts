import type { Clock } from '../../lib/clock.ts'

const minuteMs = 60_000

/** How long each awaited step of a hand-over may take. The steps that only look have time-outs of their own, which are shorter. */
const boundMs = {
  senders: 2 * minuteMs,
  choose: 2 * minuteMs,
  find: 2 * minuteMs,
  'read meanwhile': 2 * minuteMs,
  'take back': 2 * minuteMs,
  'hand over': 5 * minuteMs,
} as const
/** A command may run for a day. */
const turnMs = 25 * 60 * minuteMs
export type Step = keyof typeof boundMs | 'turn'

/** A step has taken longer than it may. */
export class StepLate extends Error {
  constructor(step: Step, ms: number) {
    super(`the step "${step}" has not ended within ${ms / 1_000} s`)
  }
}

/**
 * Bounds the steps of hand-overs: a promise that never settles throws nothing, and would stop the wakes of its agent without a word.
 */
export class StepWatch {
  readonly #clock: Clock
  readonly #boundMs: Readonly<Record<Step, number>>
  readonly #late: (step: Step) => void

  /** `patienceMs`: how long a wake may wait in its harness; `late`: called with each step that has outlived its bound. */
  constructor(clock: Clock, patienceMs: number, late: (step: Step) => void) {
    this.#clock = clock
    this.#boundMs = { ...boundMs, turn: patienceMs + turnMs }
    this.#late = late
  }

  /** Does a step. `next` ends its bound and begins that of another. Errors: of the step; `StepLate`: it goes on, and its result is lost. */
  async run<Result>(step: Step, work: (next: (step: Step) => void) => Promise<Result>): Promise<Result> {
    let cancel = () => {}
    let expire: (error: StepLate) => void
    const late = new Promise<never>((_resolve, reject) => {
      expire = reject
    })
    const begin = (now: Step): void => {
      cancel()
      const ms = this.#boundMs[now]
      cancel = this.#clock.after(ms, () => {
        expire(new StepLate(now, ms))
        // A journal that cannot be written must not end the bridge.
        try {
          this.#late(now)
        } catch {}
      })
    }
    begin(step)
    try {
      return await Promise.race([work(begin), late])
    } finally {
      cancel()
    }
  }
}
