import { createConnection } from 'node:net'

/** A session that accepts the connection and does not read. It may still read later. */
const sendMsMax = 5_000

/** `gone`: nothing listens; `busy`: the session runs and accepts no connection now; `unknown`: it may still read the message. */
type Sent = 'sent' | 'gone' | 'busy' | 'unknown'

/**
 * Writes lines to a session, and waits until it closes the connection: it never answers on it, not even to a wrong token. Never rejects.
 */
export function sendLines(path: string, lines: string): Promise<Sent> {
  return new Promise((resolve) => {
    let isConnected = false
    const socket = createConnection({ path })
    const end = (sent: Sent): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(sent)
    }
    const timer = setTimeout(() => end(isConnected ? 'unknown' : 'busy'), sendMsMax)
    socket.once('connect', () => {
      isConnected = true
      socket.end(lines)
    })
    // Nothing comes, but its end is noticed only by who reads.
    socket.resume()
    socket.once('close', () => end('sent'))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (isConnected) end('unknown')
      else end(code === 'EAGAIN' || code === 'EBUSY' ? 'busy' : 'gone')
    })
  })
}
