import { WebSocket } from 'ws'
import { messageBytesMax, type Transport } from './transport.ts'

const openMaxMs = 2_000
const closeMaxMs = 500

/**
 * Opens a WebSocket on a Unix socket: there an app-server ignores plain lines without an error. Errors: nothing listens, or it does not
 * answer.
 */
export async function openSocket(path: string): Promise<Transport> {
  const socket = new WebSocket(`ws+unix:${path}:/`, {
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    handshakeTimeout: openMaxMs,
  })
  let why = 'the app-server has closed the connection'
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(why)))
  socket.on('error', (error) => {
    why = error.message
  })
  let listener: (text: string) => void = () => {}
  socket.on('message', (data) => listener(String(data)))
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('close', () => reject(new Error(why)))
  })
  return {
    closed,
    send: (text) => socket.send(text, () => {}),
    onText: (own) => {
      listener = own
    },
    async [Symbol.asyncDispose]() {
      socket.close()
      const cut = setTimeout(() => socket.terminate(), closeMaxMs)
      await closed
      clearTimeout(cut)
    },
  }
}
