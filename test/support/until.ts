/** Resolves with the first value that satisfies the check; rejects with the last one after the time-out. */
export async function until<T>(
  read: () => T | Promise<T>,
  check: (value: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const value = await read()
    if (check(value)) return value
    if (Date.now() > deadline) throw new Error(`Still ${JSON.stringify(value)} after ${timeoutMs} ms.`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
