import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** How long a stop waits for requests in flight before it cuts them. */
const drainMs = 5_000

/** The listening socket. It can listen before there is anything to serve: the first requests wait. */
export class HttpServer implements AsyncDisposable {
  readonly #server: Server
  /** Connections that have sent no request yet: nobody waits for an answer on them, and Node does not count them as idle. */
  readonly #silent = new Set<Socket>()
  #serve: (listener: RequestListener) => void = () => {}

  constructor() {
    const listener = new Promise<RequestListener>((resolve) => {
      this.#serve = resolve
    })
    this.#server = createServer()
    this.#server.on('connection', (socket) => {
      this.#silent.add(socket)
      socket.once('close', () => this.#silent.delete(socket))
    })
    this.#server.on('request', (req, res) => {
      this.#silent.delete(req.socket)
      res.once('close', () => {
        // A client that keeps its connection alive would hold a stop up for as long.
        if (!this.#server.listening) setImmediate(() => this.#server.closeIdleConnections())
      })
      void listener.then((listen) => listen(req, res))
    })
  }

  /** Binds the address (port 0: any free one) and answers the URL. Rejects as Node does: `EADDRINUSE`, `EACCES`, … */
  async listen(host: string, port: number): Promise<string> {
    await new Promise<void>((done, fail) => {
      this.#server.once('error', fail)
      this.#server.listen(port, host, () => {
        this.#server.off('error', fail)
        done()
      })
    })
    const address = this.#server.address() as AddressInfo
    return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
  }

  /** Answers requests from now on, those that wait first. */
  serve(listener: RequestListener): void {
    this.#serve(listener)
  }

  /** Accepts nothing more and lets requests in flight finish for a while. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise((done) => this.#server.close(done))
    this.#server.closeIdleConnections()
    for (const socket of this.#silent) socket.destroy()
    const cut = setTimeout(() => this.#server.closeAllConnections(), drainMs)
    await closed
    clearTimeout(cut)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
