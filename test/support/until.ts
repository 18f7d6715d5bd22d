/**
 * Resolves with the first value that satisfies the check; rejects with the last one after the time-out. It asks again after 5 ms,
 * and the longer it has waited the less often: a wait must not take the processor from what it waits for.
 */
export async function until<T>(
  read: () => T | Promise<T>,
  check: (value: T) => boolean,
  timeoutMs = 30_000,
  pauseMaxMs = 50,
): Promise<T> {
  const startedAt = Date.now()
  for (;;) {
    const value = await read()
    if (check(value)) return value
    const waitedMs = Date.now() - startedAt
    if (waitedMs > timeoutMs) throw new Error(`Still ${JSON.stringify(value)} after ${timeoutMs} ms.`)
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMaxMs, 5 + waitedMs / 40)))
  }
}
