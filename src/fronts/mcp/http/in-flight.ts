import type { JSONRPCNotification } from '@modelcontextprotocol/server'

/** Requests of a session that are being answered: they hear of a cancellation. */
interface Exchange {
  /** Passes a notification of the client to the server that answers. */
  notify(notification: JSONRPCNotification): void
}

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

  notify(sessionId: string, notification: JSONRPCNotification): void {
    for (const exchange of this.#bySession.get(sessionId) ?? []) exchange.notify(notification)
  }
}
