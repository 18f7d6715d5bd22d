import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Attachment } from '../../lib/attachment.ts'

/** The connection of a request for a WebSocket, and the bytes that came after its headers. */
interface Upgrade {
  readonly socket: Socket
  readonly head: Buffer
}

const upgrades = new Attachment<IncomingMessage, Upgrade>('upgrade')

/** Where the gateway has a WebSocket. */
const path = /^\/v1\/wake-stream\/?(\?|$)/i

/**
 * True when a request asks for a WebSocket at a path that has one. At other paths, and for other protocols such as h2c, the upgrade is
 * ignored (RFC 9110 section 7.8).
 */
export function asksForWebSocket({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && path.test(url)
}

/**
 * Takes the connection of a request for a WebSocket. A refusal is an ordinary answer, and its last. False: an earlier request of
 * the connection has no answer yet, so nothing can follow it.
 */
export function takeUpgrade(res: ServerResponse, upgrade: Upgrade): boolean {
  const { socket } = upgrade
  // A broken connection ends its own request: `close` follows.
  socket.on('error', () => {})
  try {
    res.assignSocket(socket)
  } catch {
    socket.destroy()
    return false
  }
  upgrades.set(res.req, upgrade)
  res.shouldKeepAlive = false
  res.once('finish', () => socket.destroySoon())
  return true
}

/** Returns the connection of a request for a WebSocket; undefined if it is not one. */
export function upgradeOf(req: IncomingMessage): Upgrade | undefined {
  return upgrades.get(req)
}
