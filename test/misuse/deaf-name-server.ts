import { createSocket } from 'node:dgram'

/** A name server that takes every question and answers none. */
export async function startDeafNameServer(): Promise<{ readonly address: string } & AsyncDisposable> {
  const socket = createSocket('udp4')
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done))
  const { port } = socket.address()
  return {
    address: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => new Promise((done) => socket.close(() => done())),
  }
}
