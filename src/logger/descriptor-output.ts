import { writeSync } from 'node:fs'

/** One write carries many lines: a system call for each costs more than the line. */
const gatherMs = 100
/** When a reader that was slow is tried again. */
const retryMs = 10
/** The most that waits for a slow reader, in characters. Further lines are dropped and counted. */
const waitingMax = 1024 * 1024
/** How long a slow reader is waited for at the end of the program. */
const endMs = 1_000

/** Where lines go. */
export interface LogOutput {
  write(line: string): unknown
  /** Writes what waits, as far as the reader takes it. Never waits. */
  flush(): void
  /** The same before the program ends. Waits at most a second. */
  end(): void
}

interface Options {
  /** As many characters are gathered before they are written; 0: none. */
  readonly gather: number
  /** A line for what was dropped. */
  readonly dropped: (lines: number) => string
}

/**
 * Writes lines to a descriptor that does not block. They are gathered up to a number of characters, and for at most 100 ms. Lines that a slow
 * reader does not take wait, up to a megabyte; further ones are dropped, and counted in a line of their own. When nothing can be written,
 * because the reader is gone or the disk is full, what waits is dropped: a gateway outlives its log, and never waits for it.
 */
export class DescriptorOutput implements LogOutput {
  readonly #descriptor: number
  readonly #options: Options
  /** Lines that were not written yet. */
  #lines = ''
  /** The rest of lines of which a part was written. */
  #begun: Buffer = Buffer.alloc(0)
  #dropped = 0
  #timer: NodeJS.Timeout | undefined

  constructor(descriptor: number, options: Options) {
    this.#descriptor = descriptor
    this.#options = options
  }

  write(line: string): void {
    if (this.#lines.length >= waitingMax) this.#dropped++
    else this.#lines += line
    // A reader that is slow is tried again by the timer alone.
    if (this.#begun.length === 0 && this.#lines.length >= this.#options.gather) this.flush()
    else this.#writeIn(gatherMs)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      while (this.#next()) this.#begun = this.#begun.subarray(writeSync(this.#descriptor, this.#begun))
    } catch (error) {
      if (isSlow(error)) this.#writeIn(retryMs)
      else this.#begun = Buffer.alloc(0)
    }
  }

  end(): void {
    const until = performance.now() + endMs
    for (this.flush(); this.#begun.length > 0 && performance.now() < until; this.flush()) sleep(retryMs)
    clearTimeout(this.#timer)
  }

  /** True when there is something to write. */
  #next(): boolean {
    if (this.#begun.length > 0) return true
    if (this.#dropped > 0) this.#lines += this.#options.dropped(this.#dropped)
    this.#dropped = 0
    this.#begun = Buffer.from(this.#lines)
    this.#lines = ''
    return this.#begun.length > 0
  }

  #writeIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.flush(), ms).unref()
  }
}

function isSlow(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN'
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
