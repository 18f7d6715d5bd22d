/** Resolves when one of the promises does, when the signal aborts, and after `maxMs`. */
export function anyOf(signal: AbortSignal, promises: readonly Promise<unknown>[], maxMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, maxMs)
    signal.addEventListener('abort', done, { once: true })
    if (signal.aborted) done()
    for (const promise of promises) promise.then(done, done)
  })
}
