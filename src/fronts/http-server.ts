import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { Attachment } from '../lib/attachment.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { silentLogger } from '../logger.ts'
import { type ClientAddress, createClientAddress } from '../security/client-address.ts'
import { endWithCertificate, isVouchedFor } from '../security/client-certificates.ts'
import { bearerKeyOf } from './auth.ts'
import { BodyWatch } from './body-watch.ts'
import { type ConnectionBounds, connectionBounds } from './connection-bounds.ts'
import { ConnectionRefusals, Connections } from './connections.ts'
import { ExpressMessages } from './express-messages.ts'
import { noteQueued, RequestQueue } from './request-queue.ts'
import { takeUpgrade } from './upgrade.ts'

/** How long a stop waits for requests in flight before it cuts them. */
const drainMs = 5_000
/** How often Node checks for requests that exceed a deadline. It ends all of them in one piece: the rarer the checks, the longer the piece. */
const lateCheckMs = 250

export interface ListeningOptions {
  readonly bounds?: ConnectionBounds
  /** Shared by all ports. */
  readonly connections?: Connections
  /** Uses TLS with this certificate. */
  readonly tls?: SecureContextOptions | undefined
  /** Says when the certificates of clients end. */
  readonly clock?: Clock
  /** Decides when requests begin; shared by all ports. */
  readonly queue?: RequestQueue
  /** Finds out who sends a request. Default: the other end of the connection. */
  readonly clientAddress?: ClientAddress
}

/** The listening socket of HTTP. It can listen before the gateway is ready: the first requests wait. */
export class HttpServer implements AsyncDisposable {
  /** The classes of its requests and responses. */
  readonly messages: ExpressMessages
  readonly #server: Server
  readonly #isSecure: boolean
  readonly #bodies: BodyWatch
  /** Connections that have sent no request yet. Node does not count them as idle. */
  readonly #silent = new Set<Socket>()
  /** The answers of each connection that are not over. */
  readonly #answers = new Attachment<Socket, ServerResponse[]>('answers')
  /** Connections of requests for a WebSocket. Node no longer counts them as its own. */
  readonly #upgraded = new Set<Socket>()
  readonly #endHandshakes: () => void
  readonly #accepting: number
  #serve: (listener: RequestListener) => void = () => {}

  constructor({
    bounds = connectionBounds(),
    connections,
    tls,
    clock = systemClock,
    queue = new RequestQueue(),
    clientAddress = createClientAddress([]),
  }: ListeningOptions = {}) {
    const listener = new Promise<RequestListener>((resolve) => {
      this.#serve = resolve
    })
    this.#isSecure = tls !== undefined
    this.#accepting = bounds.accepting
    this.#bodies = new BodyWatch(bounds)
    this.messages = new ExpressMessages({ max: bounds.bodyPieces, refuse: (req) => this.#bodies.refuseFine(req) })
    this.#server = boundedServer(bounds, tls, this.messages)
    // Node's time-out counts bytes that the socket accepted, so it does not end slow readers. Other idle connections are closed here.
    this.#server.setTimeout(bounds.readerStall * 1000, (socket) => {
      if (socket.writableLength > 0 || this.#answersOf(socket).length === 0) socket.destroy()
    })
    const counted = connections ?? new Connections(bounds, new ConnectionRefusals(silentLogger))
    this.#server.on('connection', () => queue.noteConnection())
    this.#endHandshakes = counted.watch(this.#server, this.#isSecure, (socket) => {
      this.#silent.add(socket)
      // Idle connections may use only half of the places, so that active clients always find one.
      if (bounds.connections > 0 && this.#silent.size > bounds.connections / 2) this.#closeOldestSilent()
      socket.once('close', () => this.#silent.delete(socket))
      if (tls?.ca !== undefined && isVouchedFor(socket, clock)) endWithCertificate(socket, clock)
    })
    this.#server.on('request', (req, res) => {
      const { socket } = req
      if (socket.destroyed) return
      this.#silent.delete(socket)
      const answers = this.#answersOf(socket)
      if (answers.length >= bounds.pipelined) return closeAtOnce(socket)
      answers.push(res)
      this.#bodies.watch(req, res)
      res.once('close', () => {
        this.#bodies.forget(req)
        answers.splice(answers.indexOf(res), 1)
        // A connection that is kept alive would delay a stop.
        if (!this.#server.listening) setImmediate(() => this.#server.closeIdleConnections())
      })
      void listener.then((listen) => {
        if (!res.closed) res.once('close', begin(listen, req, res))
      })
    })
    this.#server.on('checkContinue', (req, res) => this.#invite(req, res))
    this.#server.on('upgrade', (req, stream, head) => {
      const socket = stream as Socket
      this.#silent.delete(socket)
      this.#upgraded.add(socket)
      socket.once('close', () => this.#upgraded.delete(socket))
      const res = new this.messages.ServerResponse(req)
      if (!takeUpgrade(res, { socket, head })) return
      void listener.then((listen) => {
        // Node does not tell such an answer that its connection has closed.
        if (!socket.destroyed) socket.once('close', begin(listen, req, res))
      })
    })
    /** Begins a request when the queue lets it. Returns how to end it. */
    const begin = (listen: RequestListener, req: IncomingMessage, res: ServerResponse): (() => void) => {
      const key = bearerKeyOf(req.headers.authorization)
      const address = clientAddress(req.socket.remoteAddress, req.headers['x-forwarded-for'] as string | undefined)
      return queue.begin(queue.credentialOf(key, address), (leave) => {
        noteQueued(res, { leave, prove: () => queue.prove(key) })
        listen(req, res as Parameters<RequestListener>[1])
      })
    }
  }

  /** Binds the address (port 0: any free one) and returns the URL. Rejects with Node's error: `EADDRINUSE`, `EACCES`, … */
  async listen(host: string, port: number): Promise<string> {
    await new Promise<void>((done, fail) => {
      this.#server.once('error', fail)
      this.#server.listen(port, host, this.#accepting, () => {
        this.#server.off('error', fail)
        done()
      })
    })
    this.#bodies.start()
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
    this.#bodies.stop()
    if (!this.#server.listening) return
    const closed = new Promise((done) => this.#server.close(done))
    this.#server.closeIdleConnections()
    this.#endHandshakes()
    for (const socket of this.#silent) socket.destroy()
    const cut = setTimeout(() => {
      this.#server.closeAllConnections()
      for (const socket of this.#upgraded) socket.destroy()
    }, drainMs)
    await closed
    clearTimeout(cut)
  }

  /**
   * The answers of a connection that are not over. When it closes, Node tells only the answer that it writes to, and not those that wait for
   * that one: they are closed here, because all that a request holds ends when its answer closes.
   */
  #answersOf(socket: Socket): ServerResponse[] {
    const known = this.#answers.get(socket)
    if (known) return known
    const answers: ServerResponse[] = []
    this.#answers.set(socket, answers)
    socket.once('close', () => {
      for (const res of [...answers]) closeAnswer(res)
    })
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

/**
 * Ends a connection in the midst of what it has sent: 64 KB hold 1,600 requests. Node reads them all, and would make a request and an answer
 * of each.
 */
function closeAtOnce(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming: () => number } }
  if (parser) parser.onIncoming = () => 0
  socket.destroy()
}

/** Closes an answer as Node does with the one that a closed connection writes. */
function closeAnswer(res: ServerResponse): void {
  if (res.closed) return
  Object.assign(res, { destroyed: true, _closed: true })
  res.emit('close')
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
    keepAliveTimeout: bounds.keepAlive * 1000,
    maxHeaderSize: bounds.headerBytes,
    connectionsCheckingInterval: Math.min(lateCheckMs, bounds.headers * 250),
  }
  const server: Server =
    tls === undefined
      ? createServer(options)
      : createSecureServer({ ...options, ...tls, ...askClients(tls), handshakeTimeout: bounds.handshake * 1000 })
  // One more than is allowed: `guardEdge` then refuses the request. Node alone would ignore the surplus header lines.
  server.maxHeadersCount = bounds.headerLines + 1
  return server
}

/** `guardEdge` refuses a client without a certificate with a problem; a failed handshake could not explain it. */
function askClients({ ca }: SecureContextOptions) {
  return { requestCert: ca !== undefined, rejectUnauthorized: false }
}
