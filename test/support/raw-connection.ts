import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { servedMs } from './served-time.ts'
import { until } from './until.ts'

/** A connection that says whatever a test writes, byte by byte if it likes. */
export interface RawConnection extends Disposable {
  readonly socket: Socket
  /** The text that has come back so far. */
  text(): string
  /** Resolves with what came back once it contains this. */
  answered(part: string): Promise<string>
  /** Resolves when the other side has closed it, with the seconds since it was opened. */
  readonly closed: Promise<number>
}

/** Connects to the host and port of a URL, or of `host:port`. */
export async function connectRaw(address: string): Promise<RawConnection> {
  const { hostname, port } = new URL(address.includes('//') ? address : `tcp://${address}`)
  const openedAt = servedMs()
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => (text += part))
  // A reset ends a connection too.
  socket.on('error', () => {})
  const closed = new Promise<number>((resolve) => {
    const end = () => resolve((servedMs() - openedAt) / 1000)
    socket.once('end', end).once('close', end)
  })
  await once(socket, 'connect')
  return {
    socket,
    text: () => text,
    answered: (part) =>
      until(
        () => text,
        (all) => all.includes(part),
      ),
    closed,
    [Symbol.dispose]: () => void socket.destroy(),
  }
}
