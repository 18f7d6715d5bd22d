import type { Dispatcher } from 'undici'
import type { RequestInFlight } from './deadlines.ts'
import type { Line } from './kept-connection.ts'

/** A longer answer is cut off. Up to this size, reading to the end is cheaper than a new connection. */
const bodyBytesMax = 64 * 1024
const snippetBytesMax = 2 * 1024

/** The answer to a request. */
export interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  /** The first 2 KiB of the body as text. */
  readonly snippet: string
  /** The fault of its body: it broke off, was cut, or has another length than was announced. */
  readonly fault: Error | undefined
}

type Times = Pick<RequestInFlight, 'timeoutMs' | 'signal' | 'graceMs'>

/**
 * One request and its answer, as undici's handler: of the answer it keeps the status, Retry-After and the beginning of the body. The status
 * decides: from then on nothing that happens to the body makes the answer an error. It settles once: what comes later is ignored.
 */
export class Exchange implements Dispatcher.DispatchHandler, RequestInFlight {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly graceMs: number | undefined
  answeredAt: number | undefined
  /** True when a connection that was used before was closed without a byte of an answer: its receiver may never have read the request. */
  isUnheard = false
  /** The connection that it is sent over. */
  line: Line | undefined
  #bytesBefore: number | undefined
  readonly #settle: (exchange: Exchange, answer: Answer | undefined, error: unknown) => void
  #controller: Dispatcher.DispatchController | undefined
  #isSettled = false
  #error: unknown
  #status = 0
  #retryAfter: string | undefined
  #kept: Buffer[] | undefined
  #bytes = 0

  /** `settle` is called once: with the answer, or with what went wrong. */
  constructor(times: Times, settle: (exchange: Exchange, answer: Answer | undefined, error: unknown) => void) {
    this.timeoutMs = times.timeoutMs
    this.signal = times.signal
    this.graceMs = times.graceMs
    this.#settle = settle
  }

  /** Ends it. If it waits for a connection, undici notices it only when there is one. */
  fail(reason: Error): void {
    this.#break(reason)
    this.#controller?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#bytesBefore = this.line?.isUsed ? this.line.socket?.bytesRead : undefined
    if (this.#isSettled) controller.abort(this.#error as Error)
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    if (this.line) this.line.isUsed = true
    this.#status = status
    this.answeredAt = performance.now()
    const retryAfter = headers['retry-after']
    this.#retryAfter = typeof retryAfter === 'object' ? retryAfter[0] : retryAfter
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#kept ??= []
    if (this.#bytes < snippetBytesMax) this.#kept.push(chunk.subarray(0, snippetBytesMax - this.#bytes))
    this.#bytes += chunk.length
    if (this.#bytes <= bodyBytesMax) return
    this.#answer(undefined)
    controller.abort(new Error('the answer is longer than what is read'))
  }

  onResponseEnd(): void {
    this.#answer(undefined)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.isUnheard = this.#bytesBefore !== undefined && this.#bytesBefore === this.line?.socket?.bytesRead
    this.#break(error)
  }

  #break(error: Error): void {
    if (this.answeredAt === undefined) this.#end(undefined, error)
    else this.#answer(error)
  }

  #answer(fault: Error | undefined): void {
    const snippet = this.#kept === undefined ? '' : toText(this.#kept)
    this.#end({ status: this.#status, retryAfter: this.#retryAfter, snippet, fault }, undefined)
  }

  #end(answer: Answer | undefined, error: unknown): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#error = error
    this.#settle(this, answer, error)
  }
}

/** A character cut in two at the end is dropped. PostgreSQL has no U+0000 in text, so it is replaced as well. */
function toText(chunks: readonly Buffer[]): string {
  const bytes = Buffer.concat(chunks)
  const text = bytes.length < snippetBytesMax ? bytes.toString() : new TextDecoder().decode(bytes, { stream: true })
  return text.replaceAll('\u0000', '\uFFFD')
}
