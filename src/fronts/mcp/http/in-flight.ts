import type { JSONRPCNotification, RequestId } from '@modelcontextprotocol/server'
import { cutText } from '../../../lib/cut-text.ts'

/** A request of a session that is being answered: it hears of its cancellation. */
interface Exchange {
  /** The id of the request. undefined: it cannot be cancelled. */
  readonly id: RequestId | undefined
  /** Passes a notification of the client to the server that answers. */
  notify(notification: JSONRPCNotification): void
}

const reasonMax = 200

/** What this gateway is answering, by session. A cancellation that comes over another gateway does not reach it. */
export class InFlight {
  readonly #bySession = new Map<string, Set<Exchange>>()

  /** Counts an exchange until the result is disposed. */
  add(sessionId: string, exchange: Exchange): Disposable {
    const exchanges = this.#bySession.get(sessionId) ?? new Set()
    this.#bySession.set(sessionId, exchanges.add(exchange))
    return {
      [Symbol.dispose]: () => {
        exchanges.delete(exchange)
        if (exchanges.size === 0 && this.#bySession.get(sessionId) === exchanges) this.#bySession.delete(sessionId)
      },
    }
  }

  /**
   * Passes a cancellation to the request that it names, and only what is known of it: a server parses what it is given, and a session may
   * have hundreds of requests. Other notifications concern no request.
   */
  notify(sessionId: string, { method, params }: JSONRPCNotification): void {
    const requestId = params?.requestId
    if (method !== 'notifications/cancelled' || (typeof requestId !== 'string' && typeof requestId !== 'number')) return
    const reason = typeof params?.reason === 'string' ? { reason: cutText(params.reason, reasonMax) } : {}
    for (const exchange of this.#bySession.get(sessionId) ?? []) {
      if (exchange.id === requestId) exchange.notify({ jsonrpc: '2.0', method, params: { requestId, ...reason } })
    }
  }
}
