import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectSecurely } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { HttpServer } from '../../src/fronts/http-server.ts'
import { RequestQueue } from '../../src/fronts/request-queue.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { until } from '../support/until.ts'

const pem = (file: string) => readFileSync(join(import.meta.dirname, '../faults/vouched-for', `${file}.pem`), 'utf8')
const secure = { cert: pem('certificate'), key: pem('key') }

const plain = '/ HTTP/1.1'
const webSocket = '/v1/wake-stream HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket'

/** A server whose timers never fire, and what begins there. */
async function startServer(isSecure: boolean) {
  const queue = new RequestQueue(new FakeClock())
  // Each key is a caller of its own.
  for (const key of ['donna', 'mallory']) queue.prove(key)
  const server = new HttpServer({ queue, tls: isSecure ? secure : undefined })
  const begun: string[] = []
  const open: ServerResponse[] = []
  const sockets: Socket[] = []
  let answer = (res: ServerResponse): void => void setImmediate(() => res.end())
  server.serve((req, res) => {
    begun.push(req.headers.authorization!.split(' ')[1]!)
    answer(res)
  })
  const { port } = new URL(await server.listen('127.0.0.1', 0))
  const to = { port: Number(port), host: '127.0.0.1' }
  let answered = 0
  let connected = 0
  return {
    server,
    begun,
    open,
    answered: () => answered,
    /** Answers nothing of its own accord from now on. */
    hold: () => {
      answer = (res) => void open.push(res)
    },
    /** Resolves when the server has accepted `count` connections, and has read the request on each. */
    accepted: async (count: number) => {
      await until(
        () => connected,
        (found) => found === count,
      )
      // The event loop accepts one in each iteration.
      for (let n = 0; n < 3 * count; n++) await new Promise(setImmediate)
    },
    /** A new connection; what it sends is whose request it is. */
    connection: () => {
      const socket = isSecure ? connectSecurely({ ...to, ca: secure.cert, servername: 'localhost' }) : connect(to)
      sockets.push(socket)
      socket.on('error', () => {})
      socket.on(isSecure ? 'secureConnect' : 'connect', () => connected++)
      socket.on('data', (part) => (answered += String(part).split('HTTP/1.1 200').length - 1))
      return (who: string, what = plain) =>
        socket.write(`GET ${what}\r\nHost: localhost\r\nAuthorization: Bearer ${who}\r\n\r\n`)
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await server.close()
    },
  }
}

describe.each([
  ['without TLS', false],
  ['with TLS', true],
])('%s', (_title, isSecure) => {
  test('requests on a new connection, and on an open one, wait for no timer', async () => {
    await using at = await startServer(isSecure)
    for (let count = 1; count <= 5; count++) {
      const ask = at.connection()
      ask('donna')
      await until(at.answered, (answered) => answered === 2 * count - 1)
      ask('donna')
      await until(at.answered, (answered) => answered === 2 * count)
    }
  })

  test.each([
    ['request', plain],
    ['request for a WebSocket', webSocket],
  ])(
    'of forty connections that come at once with a %s each, most wait for the request of another caller',
    async (_what, head) => {
      await using at = await startServer(isSecure)
      const ask = at.connection()
      ask('donna')
      await until(at.answered, (answered) => answered === 1)
      at.hold()
      ask('donna')
      await until(
        () => at.open.length,
        (open) => open === 1,
      )
      for (let count = 0; count < 40; count++) at.connection()('mallory', head)
      await until(
        () => at.begun.length,
        (begun) => begun === 6,
      )
      const another = at.connection()
      another('carol')
      await until(
        () => at.begun,
        (begun) => begun.includes('carol'),
      )
      expect(at.begun).toEqual(['donna', 'donna', 'mallory', 'mallory', 'mallory', 'mallory', 'carol'])
      while (at.answered() < 43) {
        for (const res of at.open.splice(0)) res.end()
        await new Promise(setImmediate)
      }
      expect(at.begun).toHaveLength(43)
    },
  )

  test('a stop answers the requests that wait', async () => {
    await using at = await startServer(isSecure)
    at.connection()('donna')
    await until(at.answered, (answered) => answered === 1)
    at.hold()
    for (let count = 0; count < 20; count++) at.connection()('mallory')
    await until(
      () => at.begun.length,
      (begun) => begun === 5,
    )
    await at.accepted(21)
    const stopped = at.server.close()
    let isStopped = false
    void stopped.then(() => (isStopped = true))
    while (!isStopped) {
      for (const res of at.open.splice(0)) res.end()
      await new Promise(setImmediate)
    }
    const waited = at.begun.length - 1
    expect(waited).toBe(20)
    await until(at.answered, (answered) => answered === waited + 1)
  })
})
