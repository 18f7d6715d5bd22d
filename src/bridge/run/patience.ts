/** How long a wake may wait in its harness, counted from when that reports that it waits. */
export class Patience implements Disposable {
  /** Aborts when the wait is over, or the outer signal aborts. */
  readonly signal: AbortSignal
  readonly #over = new AbortController()
  readonly #ms: number
  #timer: NodeJS.Timeout | undefined

  constructor(ms: number, outer: AbortSignal) {
    this.#ms = ms
    this.signal = AbortSignal.any([this.#over.signal, outer])
  }

  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  /** Begins to count, the first time. */
  begin(): void {
    this.#timer ??= setTimeout(() => this.#over.abort(new Error('it has waited too long')), this.#ms)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
