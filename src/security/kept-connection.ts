import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { readableHead } from './readable-head.ts'

/** The socket of a connection. It is another one each time that the connection was closed. */
export interface Line {
  socket: Socket | null
  /** True when an answer has come through this socket. */
  isUsed: boolean
  /** True from a request until its answer begins. */
  isAwaiting: boolean
}

/** A request for a `KeptConnection`, with the exchange that learns of its socket. */
export interface ExchangeOptions extends Dispatcher.DispatchOptions {
  readonly exchange: { line: Line | undefined }
}

export type ConnectionOptions = Client.Options & { readonly connect: buildConnector.connector }

/** A connection that shows its socket to each request, and to undici only heads of answers that undici reads. */
export class KeptConnection extends Client {
  readonly #line: Line

  constructor(origin: string | URL, options: ConnectionOptions) {
    const line: Line = { socket: null, isUsed: false, isAwaiting: false }
    const connect: buildConnector.connector = (to, callback) =>
      options.connect(to, (...connected) => {
        line.socket = connected[1]
        line.isUsed = false
        // This listener is before that of undici, and reads first.
        connected[1]?.on('readable', () => readHead(line))
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

function readHead(line: Line): void {
  const chunk: Buffer | null = line.isAwaiting ? (line.socket?.read() ?? null) : null
  if (chunk === null) return
  const head = readableHead(chunk)
  if (head.length === 0) return
  line.isAwaiting = false
  line.socket?.unshift(head)
}
