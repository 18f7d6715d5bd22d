import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { Attachment } from '../../lib/attachment.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../logger/logger.ts'
import { endWithCertificate, isVouchedFor } from '../../security/client-certificates.ts'
import { type ConnectionBounds, connectionBounds } from '../connection-bounds.ts'
import { ConnectionRefusals, Connections } from '../connections.ts'
import { ExpressMessages } from './express-messages.ts'
import { takeUpgrade } from './upgrade.ts'

/** How often Node checks for requests that exceed a deadline. It ends all of them in one piece: the rarer the checks, the longer the piece. */
const lateCheckMs = 250
/** The silence between two requests on a connection, in ms. */
const keepAliveMs = 5_000
/** Requests of a connection that are not answered; for one more it is closed. Few clients send one before the answer to the last one. */
const pipelinedMax = 4
/** Connections of a port that wait until they are accepted; the system may allow fewer. */
export const acceptingMax = 4_096

export interface ListeningOptions {
  readonly bounds?: ConnectionBounds
  /** Shared by all ports. */
  readonly connections?: Connections
  /** Uses TLS with this certificate. */
  readonly tls?: SecureContextOptions | undefined
  /** Says when the certificates of clients end. */
  readonly clock?: Clock
}

/** The listening socket of HTTP. It can listen before the gateway is ready: the first requests wait. */
export class HttpServer implements AsyncDisposable {
  /** The classes of its requests and responses. */
  readonly messages = new ExpressMessages()
  readonly #server: Server
  readonly #isSecure: boolean
  /** How long a stop waits for requests in flight before it cuts them. */
  readonly #stopMs: number
  /** Connections that have sent no request yet. Node does not count them as idle. */
  readonly #silent = new Set<Socket>()
  /** The requests of each connection that are not answered. One is worked on at a time: the others wait for its answer in any case. */
  readonly #answers = new Attachment<Socket, ServerResponse[]>('answers')
  /** Connections of requests for a WebSocket. Node no longer counts them as its own. */
  readonly #upgraded = new Set<Socket>()
  readonly #endHandshakes: () => void
  #serve: (listener: RequestListener) => void = () => {}

  constructor({ bounds = connectionBounds(), connections, tls, clock = systemClock }: ListeningOptions = {}) {
    const listener = new Promise<RequestListener>((resolve) => {
      this.#serve = resolve
    })
    this.#isSecure = tls !== undefined
    this.#stopMs = bounds.stop * 1000
    this.#server = boundedServer(bounds, tls, this.messages)
    // Node's time-out counts bytes that the socket accepted, so it does not end slow readers. Other idle connections are closed here.
    this.#server.setTimeout(bounds.readerStall * 1000, (socket) => {
      if (socket.writableLength > 0 || this.#answersOf(socket).length === 0) socket.destroy()
    })
    const counted = connections ?? new Connections(bounds, new ConnectionRefusals(silentLogger))
    this.#endHandshakes = counted.watch(this.#server, this.#isSecure, (socket) => {
      this.#silent.add(socket)
      // Idle connections may use only half of the places, so that active clients always find one.
      if (bounds.connections > 0 && this.#silent.size > bounds.connections / 2) this.#closeOldestSilent()
      socket.once('close', () => this.#silent.delete(socket))
      if (tls?.ca !== undefined && isVouchedFor(socket, clock)) endWithCertificate(socket, clock)
    })
    const begin = (res: ServerResponse): void => {
      void listener.then((listen) => {
        if (!res.closed) listen(res.req, res as Parameters<RequestListener>[1])
      })
    }
    this.#server.on('request', (req, res) => {
      const { socket } = req
      // The bytes that arrived together with it may hold more requests.
      if (socket.destroyed) return
      this.#silent.delete(socket)
      const answers = this.#answersOf(socket)
      if (answers.length >= pipelinedMax) return void socket.destroy()
      answers.push(res)
      res.once('close', () => {
        answers.splice(answers.indexOf(res), 1)
        if (answers[0] && !socket.destroyed) begin(answers[0])
        // A connection that is kept alive would delay a stop.
        if (!this.#server.listening) setImmediate(() => this.#server.closeIdleConnections())
      })
      if (answers.length === 1) begin(res)
    })
    this.#server.on('checkContinue', (req, res) => this.#invite(req, res))
    this.#server.on('upgrade', (req, stream, head) => {
      const socket = stream as Socket
      this.#silent.delete(socket)
      this.#upgraded.add(socket)
      socket.once('close', () => this.#upgraded.delete(socket))
      const res = new this.messages.ServerResponse(req)
      if (!takeUpgrade(res, { socket, head })) return
      // Node does not tell such an answer that its connection has closed.
      socket.once('close', () => res.destroy())
      begin(res)
    })
  }

  /** Binds the address (port 0: any free one) and returns the URL. Rejects with Node's error: `EADDRINUSE`, `EACCES`, … */
  async listen(host: string, port: number): Promise<string> {
    await new Promise<void>((done, fail) => {
      this.#server.once('error', fail)
      this.#server.listen(port, host, acceptingMax, () => {
        this.#server.off('error', fail)
        done()
      })
    })
    const address = this.#server.address() as AddressInfo
    return `${this.#isSecure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${address.port}`
  }

  /** Starts to answer requests; those that wait come first. */
  serve(listener: RequestListener): void {
    this.#serve(listener)
  }

  /** Uses another certificate for new connections. */
  useCertificate(tls: SecureContextOptions): void {
    if (this.#isSecure) (this.#server as SecureServer).setSecureContext(tls)
  }

  /** Accepts nothing more and lets requests in flight finish for a while. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise((done) => this.#server.close(done))
    this.#server.closeIdleConnections()
    this.#endHandshakes()
    for (const socket of this.#silent) socket.destroy()
    const cut = setTimeout(() => {
      this.#server.closeAllConnections()
      for (const socket of this.#upgraded) socket.destroy()
    }, this.#stopMs)
    await closed
    clearTimeout(cut)
  }

  #answersOf(socket: Socket): ServerResponse[] {
    const known = this.#answers.get(socket)
    if (known) return known
    const answers: ServerResponse[] = []
    this.#answers.set(socket, answers)
    return answers
  }

  #closeOldestSilent(): void {
    for (const socket of this.#silent) return void socket.destroy()
  }

  /** `Expect: 100-continue` is answered when the body is about to be read: after the key was checked, not before. */
  #invite(req: IncomingMessage, res: ServerResponse): void {
    req.once('resume', () => {
      if (!res.headersSent) res.writeContinue()
    })
    this.#server.emit('request', req, res)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function boundedServer(
  bounds: ConnectionBounds,
  tls: SecureContextOptions | undefined,
  { IncomingMessage, ServerResponse }: ExpressMessages,
): Server {
  const options = {
    IncomingMessage,
    ServerResponse,
    headersTimeout: bounds.headers * 1000,
    requestTimeout: bounds.request * 1000,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: bounds.headerBytes,
    connectionsCheckingInterval: Math.min(lateCheckMs, bounds.headers * 250),
  }
  const server: Server =
    tls === undefined
      ? createServer(options)
      : createSecureServer({ ...options, ...tls, ...askClients(tls), handshakeTimeout: bounds.headers * 1000 })
  // `guardEdge` counts the header lines, and `maxHeaderSize` bounds them. Beyond a count of its own Node ignores lines, or gives an answer that says nothing.
  server.maxHeadersCount = 0
  return server
}

/** `guardEdge` refuses a client without a certificate with a problem; a failed handshake could not explain it. */
function askClients({ ca }: SecureContextOptions) {
  return { requestCert: ca !== undefined, rejectUnauthorized: false }
}
