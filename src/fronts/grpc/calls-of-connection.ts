import type { Http2Session, ServerHttp2Stream } from 'node:http2'

/**
 * Counts the calls of each connection. A client that keeps to the setting of the server has fewer: it is only a request, and 64 KB
 * have room for thousands of calls, which are all begun in one iteration of the event loop.
 */
export class CallsOfConnection {
  readonly #max: number
  readonly #open = new WeakMap<Http2Session, number>()

  /** @param max the setting. A client may not know yet that a call is over, so twice as many are tolerated. */
  constructor(max: number) {
    this.#max = 2 * max
  }

  /** Notes that a call begins. Ends its connection, and all calls on it, if it has too many. */
  begin(stream: ServerHttp2Stream): void {
    const { session } = stream
    if (session === undefined || session.destroyed) return
    const open = (this.#open.get(session) ?? 0) + 1
    if (open > this.#max) return void session.destroy()
    this.#open.set(session, open)
    stream.once('close', () => this.#open.set(session, (this.#open.get(session) ?? 1) - 1))
  }
}
