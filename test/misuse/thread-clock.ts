import { readFileSync } from 'node:fs'

/** An instant, in ms: on the clock, on the clock without the machine's part, and in work of the gateway's thread. */
export interface Instant {
  readonly at: number
  readonly waited: number
  readonly worked: number
}

/**
 * Two clocks that a busy machine does not disturb much. `waited`: how long the main threads of the gateway and of this process have
 * been ready to run without a processor. `worked`: how long the gateway's main thread has run. Both stand still where the system
 * does not tell.
 */
export class ThreadClock {
  readonly #gateway: string
  readonly #own = schedstat(process.pid)

  constructor(gatewayPid: number) {
    this.#gateway = schedstat(gatewayPid)
  }

  now(): Instant {
    const [worked, waited] = read(this.#gateway)
    return { at: performance.now(), waited: waited + this.ownWait(), worked }
  }

  /** How long this process has waited for a processor. */
  ownWait(): number {
    return read(this.#own)[1]
  }
}

function schedstat(pid: number): string {
  return `/proc/${pid}/task/${pid}/schedstat`
}

/** How long a thread has run, and how long it has waited, in ms. */
function read(file: string): [number, number] {
  try {
    const [worked, waited] = readFileSync(file, 'latin1').split(' ')
    return [Number(worked) / 1e6, Number(waited) / 1e6]
  } catch {
    return [0, 0]
  }
}
