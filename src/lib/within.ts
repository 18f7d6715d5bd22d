/** A signal that aborts in time. Disposing it stops its clock. */
interface Within extends Disposable {
  readonly signal: AbortSignal
}

/**
 * Returns a signal that aborts after `timeoutMs`, or when one of the others does. Like `AbortSignal.timeout` it
 * does not keep Node running. Unlike it, it may be joined with others: in `AbortSignal.any([AbortSignal.timeout(…)])` Node may collect
 * the inner signal, which nothing else holds, and then nothing ever aborts.
 */
export function within(timeoutMs: number, ...others: readonly AbortSignal[]): Within {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException(`over after ${timeoutMs} ms`, 'TimeoutError')), timeoutMs)
  timer.unref()
  return {
    signal: AbortSignal.any([late.signal, ...others]),
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}
