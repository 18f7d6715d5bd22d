import { type AddressInfo, createServer, type Server as Listener, type Socket } from 'node:net'
import type { GrpcServices } from './grpc/services.ts'

/** How long a stop waits for calls in flight before it cuts them. */
const drainMs = 5_000
/** How long a connection that has been told everything may take to hang up. */
const lingerMs = 500

/**
 * The listening socket of gRPC. It can listen before there is anything to serve: the first connections wait. What answers calls
 * is loaded for the first connection, for its library is 15 MB that most gateways never use.
 */
export class GrpcServer implements AsyncDisposable {
  readonly #listener: Listener
  readonly #sockets = new Set<Socket>()
  #load: (() => Promise<GrpcServices>) | undefined
  #services: Promise<GrpcServices> | undefined

  constructor() {
    this.#listener = createServer((socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      // A connection that breaks is its client's to mend; the calls on it are cancelled.
      socket.on('error', () => {})
      this.#take(socket)
    })
  }

  /** Binds the address (port 0: any free one) and answers `host:port`. Rejects as Node does, naming the setting. */
  async listen(host: string, port: number): Promise<string> {
    await new Promise<void>((done, fail) => {
      const refuse = (error: Error): void => {
        error.message = `gRPC (ROUSE_GRPC_PORT): ${error.message}`
        fail(error)
      }
      this.#listener.once('error', refuse)
      this.#listener.listen(port, host, () => {
        this.#listener.off('error', refuse)
        done()
      })
    })
    const address = this.#listener.address() as AddressInfo
    return `${host.includes(':') ? `[${host}]` : host}:${address.port}`
  }

  /** Answers calls from now on, those that wait first. */
  serve(load: () => Promise<GrpcServices>): void {
    this.#load = load
    for (const socket of this.#sockets) this.#take(socket)
  }

  /** Accepts nothing more and lets calls in flight finish for a while. */
  async close(): Promise<void> {
    if (!this.#listener.listening) return
    const closed = new Promise((done) => this.#listener.close(done))
    const services = await this.#services?.catch(() => undefined)
    const cut = setTimeout(() => this.#cut(services), services ? drainMs : 0)
    for (const socket of this.#sockets) {
      socket.once('finish', () => setTimeout(() => socket.destroy(), lingerMs).unref())
    }
    await services?.drain()
    await closed
    clearTimeout(cut)
  }

  #take(socket: Socket): void {
    this.#services ??= this.#load?.()
    // The connection is all that can be told: what could not be loaded cannot answer.
    this.#services?.then(
      (services) => services.take(socket),
      (error: Error) => socket.destroy(error),
    )
  }

  #cut(services: GrpcServices | undefined): void {
    services?.cut()
    for (const socket of this.#sockets) socket.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
