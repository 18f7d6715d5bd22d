import { EventEmitter } from 'node:events'
import { OutboundError } from './outbound-error.ts'

/**
 * The deadline of a request: `timeoutMs` after its start, or `graceMs` after the caller's signal aborts. Bytes that arrive slowly do
 * not extend it. It is an EventEmitter, which undici accepts as a signal: an AbortController for each request would cost as much as
 * signing its body.
 */
export class Deadline extends EventEmitter<{ abort: [] }> {
  aborted = false
  reason: OutboundError | undefined
  readonly #timer: NodeJS.Timeout
  readonly #callers: AbortSignal | undefined
  readonly #graceMs: number
  #grace: NodeJS.Timeout | undefined

  constructor(timeoutMs: number, callers: AbortSignal | undefined, graceMs = 0) {
    super()
    this.#callers = callers
    this.#graceMs = graceMs
    this.#timer = setTimeout(
      () => this.#pass(new OutboundError('timeout', `no complete answer in ${timeoutMs} ms`)),
      timeoutMs,
    )
    callers?.addEventListener('abort', this.#stop, { once: true })
  }

  /** The outcome of `work`, unless the deadline passes first. undici checks a signal only after it is connected. */
  over<T>(work: (signal: this) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.once('abort', () => reject(this.reason))
      work(this).then(resolve, reject)
    })
  }

  clear(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#grace)
    this.#callers?.removeEventListener('abort', this.#stop)
  }

  readonly #stop = () => {
    const pass = () => this.#pass(new OutboundError('aborted', 'the request was stopped'))
    if (this.#graceMs > 0) this.#grace = setTimeout(pass, this.#graceMs)
    else pass()
  }

  #pass(reason: OutboundError): void {
    this.aborted = true
    this.reason = reason
    this.emit('abort')
  }
}
