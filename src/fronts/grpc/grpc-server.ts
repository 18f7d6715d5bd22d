import { type AddressInfo, createServer, type Server as Listener, type Socket } from 'node:net'
import {
  createServer as createSecureServer,
  type SecureContextOptions,
  type Server as SecureListener,
  type TLSSocket,
} from 'node:tls'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../logger/logger.ts'
import { endWithCertificate, isVouchedFor } from '../../security/client-certificates.ts'
import { type ConnectionBounds, connectionBounds } from '../connection-bounds.ts'
import { ConnectionRefusals, Connections } from '../connections.ts'
import { acceptingMax, type ListeningOptions } from '../http/http-server.ts'
import { ConnectionCalls } from './connection-calls.ts'
import type { GrpcServices } from './services.ts'

/** How long a client may take to close its connection after GOAWAY. */
const lingerMs = 500

interface GrpcListeningOptions extends ListeningOptions {
  readonly refusals?: ConnectionRefusals
  /** Called with each connection that is closed because its client has no certificate of the CA that is valid. */
  readonly noteRefused?: (socket: Socket) => void
}

/**
 * The listening socket of gRPC. It can listen before the gateway is ready: the first connections wait. The code that answers calls
 * is loaded for the first connection, because its library needs 15 MB and most gateways never use it.
 */
export class GrpcServer implements AsyncDisposable {
  readonly #listener: Listener
  readonly #isSecure: boolean
  /** How long a stop waits for calls in flight before it cuts them. */
  readonly #stopMs: number
  readonly #endHandshakes: () => void
  readonly #sockets = new Set<Socket>()
  /** Bounds the calls of its connections. */
  readonly calls: ConnectionCalls
  #load: (() => Promise<GrpcServices>) | undefined
  #services: Promise<GrpcServices> | undefined

  constructor({
    bounds = connectionBounds(),
    refusals = new ConnectionRefusals(silentLogger),
    connections = new Connections(bounds, refusals),
    tls,
    clock = systemClock,
    noteRefused = () => {},
  }: GrpcListeningOptions = {}) {
    this.#isSecure = tls !== undefined
    this.#stopMs = bounds.stop * 1000
    this.#listener = tls === undefined ? createServer() : secureListener(tls, bounds)
    this.calls = new ConnectionCalls(bounds, refusals)
    this.#endHandshakes = connections.watch(this.#listener, this.#isSecure, (socket) => {
      if (tls?.ca === undefined) return this.#accept(socket)
      if (isVouchedFor(socket, clock)) {
        endWithCertificate(socket, clock)
        return this.#accept(socket)
      }
      noteRefused(socket)
      socket.destroy()
    })
    this.#listener.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      if (lacksCertificate(error, socket)) noteRefused(wireOf(socket))
    })
  }

  /** Binds the address (port 0: any free one) and returns `host:port`. Rejects with Node's error, which then names the setting. */
  async listen(host: string, port: number): Promise<string> {
    await new Promise<void>((done, fail) => {
      const refuse = (error: Error): void => {
        error.message = `gRPC (ROUSE_GRPC_PORT): ${error.message}`
        fail(error)
      }
      this.#listener.once('error', refuse)
      this.#listener.listen(port, host, acceptingMax, () => {
        this.#listener.off('error', refuse)
        done()
      })
    })
    const address = this.#listener.address() as AddressInfo
    return `${host.includes(':') ? `[${host}]` : host}:${address.port}`
  }

  /** Starts to answer calls; those that wait come first. */
  serve(load: () => Promise<GrpcServices>): void {
    this.#load = () =>
      load().catch((error: unknown) => {
        this.#services = undefined
        throw error
      })
    for (const socket of this.#sockets) this.#take(socket)
  }

  /** Uses another certificate for new connections. */
  useCertificate(tls: SecureContextOptions): void {
    if (this.#isSecure) (this.#listener as SecureListener).setSecureContext(tls)
  }

  /** Accepts nothing more and lets calls in flight finish for a while. */
  async close(): Promise<void> {
    if (!this.#listener.listening) return
    const closed = new Promise((done) => this.#listener.close(done))
    this.#endHandshakes()
    const services = await this.#services?.catch(() => undefined)
    const cut = setTimeout(() => this.#cut(services), services ? this.#stopMs : 0)
    for (const socket of this.#sockets) {
      socket.once('finish', () => setTimeout(() => socket.destroy(), lingerMs).unref())
    }
    await services?.drain()
    await closed
    clearTimeout(cut)
  }

  #accept(socket: Socket): void {
    // The client must reconnect. The calls on the broken connection are cancelled.
    socket.on('error', () => {})
    if (!this.calls.accept(socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    this.#take(socket)
  }

  #take(socket: Socket): void {
    this.#services ??= this.#load?.()
    // The gRPC code could not be loaded, so closing the connection is the only possible answer.
    this.#services?.then(
      (services) => {
        // It may have ended meanwhile. The library can wait for the end of such a connection for ever, and a stop waits for the library.
        if (socket.destroyed) return
        services.take(socket)
      },
      (error: Error) => socket.destroy(error),
    )
  }

  #cut(services: GrpcServices | undefined): void {
    services?.end()
    for (const socket of this.#sockets) socket.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** True when a handshake failed because the client has no certificate, or one that the CA has not signed. */
function lacksCertificate({ code }: NodeJS.ErrnoException, { authorizationError }: TLSSocket): boolean {
  return code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE' || Boolean(authorizationError)
}

/** The TCP socket below TLS. It still knows its other end when the handshake has failed; the one above it does not. */
function wireOf(socket: TLSSocket): Socket {
  return (socket as { _parent?: Socket })._parent ?? socket
}

function secureListener(tls: SecureContextOptions, bounds: ConnectionBounds): Listener {
  const requestCert = tls.ca !== undefined
  return createSecureServer({ ...tls, requestCert, ALPNProtocols: ['h2'], handshakeTimeout: bounds.headers * 1000 })
}
