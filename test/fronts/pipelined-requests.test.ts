import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HttpServer } from '../../src/fronts/http/http-server.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const pipelinedMax = 4
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
  await gateway.addAgent('donna')
})

afterAll(() => gateway[Symbol.asyncDispose]())

/** Sends so many requests at once on one connection. Resolves with the number of its answers when `count` of them came, or it is closed. */
async function pipeline(count: number, request: string): Promise<{ answers: number; isClosed: boolean }> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  let read = ''
  socket.on('data', (part) => (read += part))
  await once(socket, 'connect')
  socket.write(request.repeat(count))
  const answers = () => read.split('HTTP/1.1 ').length - 1
  await until(
    () => socket.closed || answers() >= count,
    (isOver) => isOver,
  )
  const isClosed = socket.closed
  socket.destroy()
  return { answers: answers(), isClosed }
}

const healthz = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'

test('a client may send a few requests before it reads the answers', async () => {
  expect(await pipeline(pipelinedMax, healthz)).toEqual({ answers: pipelinedMax, isClosed: false })
})

test.each([
  ['without a key', healthz],
  ['with a wrong key', 'GET /v1/whoami HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer rk_x\r\n\r\n'],
])(
  'a connection with more unanswered requests is closed, and most of them are not begun: %s',
  async (_how, request) => {
    const { answers, isClosed } = await pipeline(1_500, request)
    expect(isClosed).toBe(true)
    expect(answers).toBeLessThanOrEqual(pipelinedMax)
    expect((await gateway.call('GET', '/healthz')).status).toBe(200)
  },
)

test('a connection with more unanswered requests than it may have is closed', async () => {
  const { key } = await gateway.addAgent('mallory')
  const waits = `GET /v1/inbox?waitSeconds=50 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`
  expect(await pipeline(1, waits + healthz.repeat(1_500))).toEqual({ answers: 0, isClosed: true })
})

test('after a reset, the unanswered requests of a connection free their places: other requests of the agent begin', async () => {
  await gateway.call('PATCH', '/v1/projects/default', { limits: { requestsAtOnce: 4, requestsQueued: 4 } })
  const { key } = await gateway.addAgent('lola')
  const { hostname, port } = new URL(gateway.url)
  // The body never comes, so that the first request has a place until its connection closes.
  const begun = `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
  const waits = `GET /v1/whoami HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`
  for (let n = 0; n < 20; n++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(`${waits.repeat(pipelinedMax - 1)}${begun}Content-Length: 10\r\n\r\n`)
    await once(socket, 'data')
    socket.resetAndDestroy()
  }
  for (let n = 0; n < 8; n++) expect((await gateway.call('GET', '/v1/whoami', undefined, { key })).status).toBe(200)
})

test('the requests of a connection are worked on one after the other, and none that waits begins when it has closed', async () => {
  const server = new HttpServer()
  const begun: (() => void)[] = []
  server.serve((_req, res) => void begun.push(() => res.end('ok')))
  const { hostname, port } = new URL(await server.listen('127.0.0.1', 0))
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(healthz.repeat(pipelinedMax))
  const untilBegun = (count: number) =>
    until(
      () => begun.length,
      (found) => found === count,
    )
  await untilBegun(1)
  begun[0]!()
  await untilBegun(2)
  socket.resetAndDestroy()
  await once(socket, 'close')
  await server.close()
  expect(begun).toHaveLength(2)
})

/** The HTTP/2 frames of a client that begins so many calls without a look at the settings of the server. */
function framesOf(calls: number): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  const frame = (type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer => {
    const head = Buffer.alloc(9)
    head.writeUIntBE(payload.length, 0, 3)
    head.writeUInt8(type, 3)
    head.writeUInt8(flags, 4)
    head.writeUInt32BE(stream, 5)
    return Buffer.concat([head, payload])
  }
  // POST, http, and literals without an index: :path, content-type, te (RFC 7541, section 6).
  const headers = Buffer.concat([
    Buffer.from([0x83, 0x86, 0x04]),
    text('/lf.a2a.v1.A2AService/GetTask'),
    Buffer.from([0x0f, 0x10]),
    text('application/grpc'),
    Buffer.from([0x00]),
    text('te'),
    text('trailers'),
  ])
  const begun = Array.from({ length: calls }, (_, index) => frame(0x1, 0x4, 2 * index + 1, headers))
  return Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(0x4, 0, 0), ...begun])
}

test('a gRPC connection that begins many calls without a valid key is closed', async () => {
  const [hostname, port] = gateway.grpcTarget!.split(':')
  const begin = async (calls: number) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {}).resume()
    await once(socket, 'connect')
    socket.write(framesOf(calls))
    return socket
  }
  const flood = await begin(2_000)
  const modest = await begin(50)
  await once(flood, 'close')
  expect(modest.closed).toBe(false)
  modest.destroy()
})
