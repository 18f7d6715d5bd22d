import type { JSONRPCNotification, RequestId } from '@modelcontextprotocol/server'

/** The requests of sessions that this gateway is answering. A cancellation that comes over another gateway does not reach them. */
export class InFlight {
  readonly #byRequest = new Map<string, Set<AbortController>>()

  /** Counts a request until the result is disposed. Its `signal` aborts when the client cancels it. */
  add(sessionId: string, requestId: RequestId): Disposable & { readonly signal: AbortSignal } {
    const key = keyOf(sessionId, requestId)
    const controller = new AbortController()
    const open = this.#byRequest.get(key) ?? new Set()
    this.#byRequest.set(key, open.add(controller))
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        open.delete(controller)
        if (open.size === 0 && this.#byRequest.get(key) === open) this.#byRequest.delete(key)
      },
    }
  }

  /** Cancels the request that a notification of the session names. Other notifications concern no request. */
  hear(sessionId: string, { method, params }: JSONRPCNotification): void {
    const requestId = params?.requestId
    if (method !== 'notifications/cancelled' || (typeof requestId !== 'string' && typeof requestId !== 'number')) return
    for (const controller of this.#byRequest.get(keyOf(sessionId, requestId)) ?? []) controller.abort()
  }
}

const keyOf = (sessionId: string, requestId: RequestId): string => `${sessionId} ${JSON.stringify(requestId)}`
