import { writeSync } from 'node:fs'

/** One write carries many lines: a system call for each costs more than the line. */
const gatherMs = 100
/** How long a reader that is slow is waited for before its descriptor is tried again. */
const retryMs = 10

/** Where lines go. `flushSync` writes what waits. */
export interface LogOutput {
  write(line: string): unknown
  flushSync(): void
}

/**
 * Writes lines to a descriptor. They are gathered up to a number of bytes, and for at most 100 ms. A slow reader is waited for. When
 * nothing can be written, because the reader is gone or the disk is full, the lines are dropped: a gateway outlives its log.
 */
export class DescriptorOutput implements LogOutput {
  readonly #descriptor: number
  readonly #gatherBytes: number
  #waiting = ''
  #timer: NodeJS.Timeout | undefined

  constructor(descriptor: number, gatherBytes: number) {
    this.#descriptor = descriptor
    this.#gatherBytes = gatherBytes
  }

  write(line: string): void {
    this.#waiting += line
    if (this.#waiting.length >= this.#gatherBytes) this.flushSync()
    else this.#timer ??= setTimeout(() => this.flushSync(), gatherMs).unref()
  }

  flushSync(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    let bytes = Buffer.from(this.#waiting)
    this.#waiting = ''
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(this.#descriptor, bytes))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        sleep(retryMs)
      }
    }
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
