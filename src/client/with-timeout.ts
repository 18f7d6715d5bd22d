interface Timeout {
  /** Aborts the work too. */
  readonly signal: AbortSignal | undefined
  /** 0: no timeout. */
  readonly timeoutMs: number
  /** The reason with which the work is aborted when the time is over. */
  readonly expired: () => Error
}

/** Runs work with a signal that aborts when the outer one does, or when the time is over. */
export async function withTimeout<T>(
  { signal: outer, timeoutMs, expired }: Timeout,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const relay = () => controller.abort(outer?.reason)
  if (outer?.aborted) relay()
  outer?.addEventListener('abort', relay, { once: true })
  const timer = timeoutMs > 0 ? setTimeout(() => controller.abort(expired()), timeoutMs) : undefined
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', relay)
  }
}
