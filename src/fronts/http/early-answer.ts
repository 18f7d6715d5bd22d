import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The time for sending an answer before the body was read, in ms. */
const lingerMs = 1_000

/**
 * Prepares an answer that is sent before the body of its request was read: it closes the connection, with the rest of the body unread. Without
 * this Node reads the body to its end, however long, after a 401 too.
 */
export function closeUnread(res: ServerResponse): void {
  const { req } = res
  if (!hasBody(req)) return
  res.setHeader('Connection', 'close')
  // Node reads and discards a body that no code has begun to read. A body that was begun and paused stops when a buffer is full.
  req.read(0)
  req.pause()
  lingerOnEnd(req.socket)
}

/** True when a request announces a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}

/** A connection that is destroyed with unread bytes is reset, and the client may lose the answer. So the client gets time to read it. */
function lingerOnEnd(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  }
}
