import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Returns a `writeHead` for answers to requests with a body: one that is sent before the body was read closes the connection, with
 * the rest of the body unread. Without this Node reads the body to its end, however long, after a 401 too.
 */
export function closingWriteHead(lingerMs: number): ServerResponse['writeHead'] {
  return function writeHead(this: ServerResponse, ...head: Parameters<ServerResponse['writeHead']>) {
    const { req } = this
    if (!req.complete) {
      this.setHeader('Connection', 'close')
      // Node reads and discards a body that no code has begun to read. A body that was begun and paused stops when a buffer is full.
      req.read(0)
      req.pause()
      lingerOnEnd(req.socket, lingerMs)
    }
    return ServerResponse.prototype.writeHead.apply(this, head)
  } as ServerResponse['writeHead']
}

/** True when a request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}

/** A connection that is destroyed with unread bytes is reset, and the client may lose the answer. So the client gets time to read it. */
function lingerOnEnd(socket: Socket, lingerMs: number): void {
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  }
}
