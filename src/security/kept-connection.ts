import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher } from 'undici'

/** The socket of a connection. It is another one each time that the connection was closed. */
export interface Line {
  socket: Socket | null
  /** True when an answer has come through this socket. */
  isUsed: boolean
}

/** A request for a `KeptConnection`, with the exchange that learns of its socket. */
export interface ExchangeOptions extends Dispatcher.DispatchOptions {
  readonly exchange: { line: Line | undefined }
}

export type ConnectionOptions = Client.Options & { readonly connect: buildConnector.connector }

/** A connection that shows its socket to each request. */
export class KeptConnection extends Client {
  readonly #line: Line

  constructor(origin: string | URL, options: ConnectionOptions) {
    const line: Line = { socket: null, isUsed: false }
    const connect: buildConnector.connector = (to, callback) =>
      options.connect(to, (...connected) => {
        line.socket = connected[1]
        line.isUsed = false
        callback(...connected)
      })
    super(origin, { ...options, connect })
    this.#line = line
  }

  override dispatch(options: ExchangeOptions, handler: Dispatcher.DispatchHandler): boolean {
    options.exchange.line = this.#line
    return super.dispatch(options, handler)
  }
}
