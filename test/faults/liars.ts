import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { OutboundErrorKind } from '../../src/security/outbound-error.ts'

/** A receiver that says one thing and does another, and what a try at it is recorded as. */
interface Liar {
  readonly name: string
  /** A status, or the kind of failure. */
  readonly recorded: number | OutboundErrorKind
  answer(socket: Socket): void
}

const endOf = (socket: Socket, work: () => void): void => void socket.once('close', work)
const bigBytes = 100 * 1024 * 1024

export const liars: readonly Liar[] = [
  {
    name: 'says 200 and hangs up',
    recorded: 200,
    answer: (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', () => socket.destroy()),
  },
  {
    name: 'answers a hundred megabytes',
    recorded: 200,
    answer(socket) {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bigBytes}\r\n\r\n`)
      const chunk = Buffer.alloc(256 * 1024, '.')
      const pour = (): void => {
        while (socket.writable && socket.bytesWritten < bigBytes) {
          if (socket.write(chunk)) continue
          socket.once('drain', pour)
          return
        }
      }
      pour()
    },
  },
  {
    name: 'drips headers',
    recorded: 'timeout',
    answer(socket) {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
      const drip = setInterval(() => socket.write('.'), 50)
      endOf(socket, () => clearInterval(drip))
    },
  },
  { name: 'never answers', recorded: 'timeout', answer: () => {} },
  {
    name: 'says 103 for ever',
    recorded: 'timeout',
    answer(socket) {
      const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'.repeat(10)
      const again = setInterval(() => socket.write(hints), 5)
      endOf(socket, () => clearInterval(again))
    },
  },
  {
    name: 'says 100 to a request without Expect',
    recorded: 'no-http',
    answer: (socket) => void socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
  },
  {
    name: 'says 101 to a request without Upgrade',
    recorded: 'no-http',
    answer: (socket) =>
      void socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  },
  {
    name: 'hangs up in the middle of a body',
    recorded: 200,
    answer: (socket) =>
      void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome', () => socket.destroy()),
  },
  { name: 'speaks no HTTP', recorded: 'no-http', answer: (socket) => void socket.write('220 mail.test ESMTP\r\n') },
  {
    name: 'sends a megabyte of headers',
    recorded: 'no-http',
    answer: (socket) => void socket.write(`HTTP/1.1 200 OK\r\nX-Huge: ${'h'.repeat(1024 * 1024)}\r\n\r\n`),
  },
]

export interface RunningLiar {
  readonly name: string
  readonly recorded: Liar['recorded']
  readonly url: string
}

/** Takes a whole request on a raw socket, then does what it does. */
export function startLiar({ name, recorded, answer }: Liar): Promise<RunningLiar> {
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      // A wake's body is JSON and comes with its end, in the last piece.
      if (data.at(-1) === '}'.charCodeAt(0)) answer(socket)
    })
  })
  return listen(server, { name, recorded, origin: 'http://127.0.0.1' })
}

/** Says over TLS who it is. */
interface Impostor {
  readonly name: string
  readonly recorded: Liar['recorded']
  /** The folder of its certificate: `vouched-for` is for localhost, and a gateway can be configured to trust it. */
  readonly certificate: 'self-signed' | 'vouched-for'
  readonly host: string
}

/** The last is none: it shows that the one before it is refused for its name alone. */
export const impostors: readonly Impostor[] = [
  {
    name: 'has a certificate that nobody vouches for',
    recorded: 'tls',
    certificate: 'self-signed',
    host: '127.0.0.1',
  },
  { name: 'has a certificate for another name', recorded: 'tls', certificate: 'vouched-for', host: '127.0.0.1' },
  { name: 'has a certificate for its name', recorded: 200, certificate: 'vouched-for', host: 'localhost' },
]

export const vouchedFor = fileURLToPath(new URL('vouched-for/certificate.pem', import.meta.url))

export function startImpostor({ name, recorded, certificate, host }: Impostor): Promise<RunningLiar> {
  const pem = (file: string) => readFileSync(new URL(`${certificate}/${file}.pem`, import.meta.url))
  const server = createHttpsServer({ key: pem('key'), cert: pem('certificate') }, (_req, res) => void res.end())
  return listen(server, { name, recorded, origin: `https://${host}` })
}

async function listen(
  server: Server,
  { origin, ...liar }: Pick<RunningLiar, 'name' | 'recorded'> & { origin: string },
): Promise<RunningLiar> {
  server.on('connection', (socket: Socket) => socket.on('error', () => {}))
  server.on('secureConnection', (socket: Socket) => socket.on('error', () => {}))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { ...liar, url: `${origin}:${(server.address() as AddressInfo).port}/` }
}
