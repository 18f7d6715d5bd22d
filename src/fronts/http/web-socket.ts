import type { IncomingMessage, ServerResponse } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { Problem } from '../../errors.ts'
import { KiB } from '../../limits.ts'
import { leaveConnection } from './express-messages.ts'
import { requestIdOf } from './request-log.ts'
import { upgradeOf } from './upgrade.ts'

/** How long the client has to answer the end of a WebSocket, in ms. */
const closeWaitMs = 2_000
/** How often a WebSocket is sent a ping. A client that shows no life from one to the next is gone. */
const pingEveryMs = 15_000
/** Pings and pongs of a client, and its messages, from one ping to the next. Each message also counts as a request. */
const controlsMax = 64
const messagesMax = 5_000

/** Why the gateway ends a WebSocket (RFC 6455 section 7.4.1). The library adds 1002, 1007 and 1009 for frames that are not valid. */
export const closeCodes = { done: 1000, goingAway: 1001, notText: 1003, refused: 1008 } as const

const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: 256 * KiB,
  maxFragments: 256,
})
server.on('headers', (lines, { res }: IncomingMessage & { res?: ServerResponse }) => {
  if (res) lines.push(`X-Request-Id: ${requestIdOf(res)}`)
})

/**
 * Refuses a request for a WebSocket that `acceptWebSocket` could not accept, or that a page of another origin makes: browsers let
 * pages open WebSockets to any address. Errors: `invalid-request` (RFC 6455 section 4.2.1), `forbidden`.
 */
export function requireUpgradable({ headers }: IncomingMessage, publicUrl: string): void {
  const { origin, host } = headers
  const own = [`http://${host}`, `https://${host}`, new URL(publicUrl).origin]
  if (origin !== undefined && !own.includes(origin)) {
    throw new Problem('forbidden', {
      field: 'Origin',
      detail: 'Origin: a page of another origin may not open a WebSocket here. A program sends no Origin.',
    })
  }
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')) {
    throw unfit('Sec-WebSocket-Key', 'must be 16 bytes in base64')
  }
  if (headers['sec-websocket-version'] !== '13') throw unfit('Sec-WebSocket-Version', 'must be 13')
}

function unfit(field: string, reason: string): Problem {
  return new Problem('invalid-request', { field, detail: `${field}: ${reason}. Use a WebSocket client (RFC 6455).` })
}

/**
 * Answers 101. From then on the response is the WebSocket's: an error of its handler closes the connection. Undefined: the client
 * has left.
 */
export function acceptWebSocket(req: IncomingMessage, res: ServerResponse): Promise<WebSocket | undefined> {
  const { socket, head } = upgradeOf(req)!
  // The gateway speaks no subprotocol, whatever is offered.
  delete req.headers['sec-websocket-protocol']
  leaveConnection(res)
  return new Promise((resolve) => {
    socket.once('close', () => resolve(undefined))
    if (socket.destroyed) return resolve(undefined)
    server.handleUpgrade(req, socket, head, (open) => {
      // A message that is not valid ends the connection with its code.
      open.on('error', () => {})
      resolve(open)
    })
  })
}

/** Closes a WebSocket, and gives its client some time to answer. */
export function closeSocket(socket: WebSocket, code: number): void {
  // The answer is read, whatever else waits.
  socket.resume()
  socket.close(code)
  const cut = setTimeout(() => socket.terminate(), closeWaitMs)
  socket.once('close', () => clearTimeout(cut))
}

/**
 * Closes a WebSocket whose client sends too much. Nothing more is read: the library would parse what is on its way, and the end of the
 * connection waits for no answer.
 */
function closeFlooded(socket: WebSocket): void {
  closeSocket(socket, closeCodes.refused)
  socket.pause()
}

/**
 * Sends pings, and ends a WebSocket whose client shows no life between two of them, or sends more frames than it may. Nothing is read
 * from a paused one.
 */
export function keepAlive(socket: WebSocket, everyMs = pingEveryMs): void {
  let isAlive = true
  let controls = 0
  let messages = 0
  const control = (): void => {
    isAlive = true
    controls += 1
    if (controls > controlsMax) flooded()
  }
  const message = (): void => {
    isAlive = true
    messages += 1
    if (messages > messagesMax) flooded()
  }
  const flooded = (): void => {
    // Those that have arrived already are parsed, each for nothing.
    socket.off('message', message).off('ping', control).off('pong', control)
    closeFlooded(socket)
  }
  socket.on('message', message).on('ping', control).on('pong', control)
  const timer = setInterval(() => {
    if (!isAlive && !socket.isPaused) return socket.terminate()
    isAlive = false
    controls = 0
    messages = 0
    socket.ping()
  }, everyMs)
  socket.once('close', () => clearInterval(timer))
}
