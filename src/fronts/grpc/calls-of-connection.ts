import type { Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'

interface Calls {
  open: number
  /** How many there may be. */
  max: number
}

/**
 * Counts the calls of each connection. A client that keeps to the setting of the server has fewer: it is only a request, and 64 KB
 * have room for thousands of calls, which are all begun in one iteration of the event loop.
 */
export class CallsOfConnection {
  readonly #unproven: number
  readonly #proven: number
  readonly #calls = new WeakMap<Http2Session, Calls>()

  /**
   * A client may not know yet that a call is over, so twice as many as each setting are tolerated.
   * @param unproven the first setting of a connection
   * @param proven the setting once a call on it has shown a valid key
   */
  constructor(unproven: number, proven: number) {
    this.#unproven = unproven
    this.#proven = proven
  }

  /** Notes that a call begins. Ends its connection, and all calls on it, if it has too many. */
  begin(stream: ServerHttp2Stream): void {
    const { session } = stream
    if (session === undefined || session.destroyed) return
    const calls = this.#callsOf(session)
    if (calls.open >= 2 * calls.max) return void session.destroy()
    calls.open++
    stream.once('close', () => calls.open--)
  }

  /** Notes that a call has shown a valid key: its connection may have more of them. */
  prove({ session }: ServerHttp2Stream): void {
    if (session === undefined || session.destroyed) return
    const calls = this.#callsOf(session)
    if (calls.max >= this.#proven) return
    calls.max = this.#proven
    ;(session as ServerHttp2Session).settings({ maxConcurrentStreams: this.#proven })
  }

  #callsOf(session: Http2Session): Calls {
    const known = this.#calls.get(session)
    if (known) return known
    const calls = { open: 0, max: this.#unproven }
    this.#calls.set(session, calls)
    return calls
  }
}
