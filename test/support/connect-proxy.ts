import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** A CONNECT that a proxy was sent. */
interface Asked {
  readonly target: string
  readonly credentials: string | undefined
}

/**
 * A proxy that takes CONNECT. It connects to a receiver of the test, whatever address it is asked for, and does not do so where `answer` is
 * another status than 200.
 */
export async function startConnectProxy(receiverUrl: string) {
  const asked: Asked[] = []
  const sockets = new Set<Socket>()
  const { port: receiverPort } = new URL(receiverUrl)
  const server = createServer((_, res) => res.writeHead(400).end())
  const proxy = {
    url: '',
    asked,
    answer: 200,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  server.on('connection', (socket) => sockets.add(socket))
  server.on('connect', (req, socket) => {
    asked.push({ target: req.url!, credentials: req.headers['proxy-authorization'] })
    socket.on('error', () => {})
    if (proxy.answer !== 200) return void socket.end(`HTTP/1.1 ${proxy.answer} No\r\n\r\n`)
    const receiver = connect(Number(receiverPort), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      receiver.pipe(socket).pipe(receiver)
    })
    receiver.on('error', () => socket.destroy())
    sockets.add(receiver)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}
