import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import type { Request, Response } from 'express'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { UnreadAnswers } from '../../src/admission/unread-answers.ts'
import { takeUpgrade } from '../../src/fronts/http/upgrade.ts'
import { keepAlive } from '../../src/fronts/http/web-socket.ts'
import { socketTransport } from '../../src/fronts/rest/wake-stream/socket-transport.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { connectRaw } from '../support/raw-connection.ts'
import { until } from '../support/until.ts'
import { openWakeSocket } from '../support/wake-socket.ts'
import { stateOf, untilStatus } from '../wakes/acts.ts'

async function addReader(gateway: TestGateway, handle: string): Promise<{ agent: TestAgent; id: string }> {
  const agent = await gateway.addAgent(handle)
  const metadata = { coalesceWindow: 0, maxInFlight: 64 }
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: metadata }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, { key: agent.key })
  return { agent, id: body.subscriptionId }
}

let gateway: TestGateway
let donna: TestAgent
let id: string

beforeAll(async () => {
  gateway = await startGateway()
  ;({ agent: donna, id } = await addReader(gateway, 'donna'))
})
afterAll(() => gateway[Symbol.asyncDispose]())

const validKey = 'dGhlIHNhbXBsZSBub25jZQ=='
const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket' }
const handshake = { ...upgrade, 'Sec-WebSocket-Key': validKey, 'Sec-WebSocket-Version': '13' }

/** The bytes of a GET request. */
function get(path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ Host: new URL(gateway.url).host, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}

/** Sends a request and returns everything that comes back until the end of its connection. */
async function answerTo(path: string, headers: Record<string, string>): Promise<string> {
  using connection = await connectRaw(gateway.url)
  connection.socket.write(get(path, headers))
  await connection.closed
  return connection.text()
}

const stream = (): string => `/v1/wake-stream?subscription=${id}`
const bearer = (): Record<string, string> => ({ Authorization: `Bearer ${donna.key}` })

describe('a request for a WebSocket', () => {
  const cases: [what: string, headers: () => Record<string, string>, status: number, detail: string][] = [
    ['without a key', () => handshake, 401, 'Authorization'],
    ['with a wrong key', () => ({ ...handshake, Authorization: 'Bearer wrong' }), 401, 'key'],
    [
      'of a page of another origin',
      () => ({ ...handshake, ...bearer(), Origin: 'https://evil.example' }),
      403,
      'Origin',
    ],
    ['of a page without an origin', () => ({ ...handshake, ...bearer(), Origin: 'null' }), 403, 'Origin'],
    ['without its key', () => ({ ...upgrade, ...bearer(), 'Sec-WebSocket-Version': '13' }), 400, 'Sec-WebSocket-Key'],
    [
      'of an old version',
      () => ({ ...handshake, ...bearer(), 'Sec-WebSocket-Version': '8' }),
      400,
      'Sec-WebSocket-Version',
    ],
    ['for another host', () => ({ ...handshake, ...bearer(), Host: 'rebound.example' }), 421, 'Host'],
  ]
  test.each(cases)('%s is refused before the handshake', async (_what, headers, status, detail) => {
    const text = await answerTo(stream(), headers())
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(text).toContain('application/problem+json')
    expect(text).toContain(detail)
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'waiting' })
  })

  test("for what is not the caller's is not found, and takes no subscription from a stream", async () => {
    const { agent: mike } = await addReader(gateway, 'mike')
    const text = await answerTo(stream(), { ...handshake, Authorization: `Bearer ${mike.key}` })
    expect(text).toMatch(/^HTTP\/1.1 404 /)
  })

  test('elsewhere gets the ordinary answer of its path', async () => {
    using connection = await connectRaw(gateway.url)
    connection.socket.write(get('/v1/nothing-here', { ...handshake, ...bearer() }))
    expect(await connection.answered('not-found')).toMatch(/^HTTP\/1.1 404 /)
    connection.socket.write(get('/v1/whoami', { ...handshake, ...bearer() }))
    expect(await connection.answered('"@donna"')).toContain('HTTP/1.1 200 ')
  })

  test('or for another protocol, with a body, is answered as if nothing was offered', async () => {
    using connection = await connectRaw(gateway.url)
    const body = JSON.stringify([{ eventId: 'none', step: 'delivered' }])
    const lines = [
      'POST /v1/wake-stream/receipts HTTP/1.1',
      `Host: ${new URL(gateway.url).host}`,
      `Authorization: Bearer ${donna.key}`,
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    connection.socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
    expect(await connection.answered('"unknown"')).toMatch(/^HTTP\/1.1 200 /)
  })

  test('after a request that has no answer yet costs only its connection', async () => {
    using connection = await connectRaw(gateway.url)
    const events = get('/v1/events', { ...bearer(), Accept: 'text/event-stream' })
    connection.socket.write(events + get(stream(), { ...handshake, ...bearer() }))
    await connection.closed
    expect(await gateway.call('GET', '/healthz')).toMatchObject({ status: 200 })
  })

  test('whose client is gone before the answer leaves nothing behind', async () => {
    for (let count = 0; count < 10; count += 1) {
      using connection = await connectRaw(gateway.url)
      connection.socket.write(get(stream(), { ...handshake, ...bearer() }))
      connection.socket.resetAndDestroy()
    }
    await untilStatus(gateway, donna, id, 'waiting')
  })
})

describe('a message of the client', () => {
  const closing: [what: string, send: (socket: WebSocket) => void, code: number][] = [
    ['that is binary', (socket) => socket.send(Buffer.from('[]'), { binary: true }), 1003],
    ['that is not UTF-8', (socket) => socket.send(Buffer.from([0xc3, 0x28]), { binary: false }), 1007],
    ['that is too large', (socket) => socket.send('x'.repeat(256 * 1024 + 1)), 1009],
    ['of more fragments than may be', (socket) => fragments(socket, 256 + 1), 1008],
    ['beside more pongs than may be', (socket) => pongs(socket, 64 + 1), 1008],
  ]
  test.each(closing)('%s closes the WebSocket with its code', async (_what, send, code) => {
    using reader = await openWakeSocket(gateway, donna, [id])
    send(reader.socket)
    expect(await reader.closed).toBe(code)
    await untilStatus(gateway, donna, id, 'waiting')
  })

  const refused: [what: string, text: string, answer: object][] = [
    ['that is not JSON', 'receipts', { code: 'invalid-json', status: 400 }],
    ['that nests too deeply', '['.repeat(100_000), { code: 'invalid-request', limit: 'depth' }],
    [
      'with a step that does not exist',
      '[{"eventId":"e","step":"done"}]',
      { code: 'invalid-request', field: '[0].step' },
    ],
    ['without a receipt', '[]', { code: 'invalid-request' }],
    ['for a wake of nobody', '[{"eventId":"e","step":"seen"}]', { receipts: [{ eventId: 'e', outcome: 'unknown' }] }],
  ]
  test('that cannot be read is answered, and the WebSocket goes on', async () => {
    using reader = await openWakeSocket(gateway, donna, [id])
    for (const [, text, answer] of refused) expect(await reader.report(text)).toMatchObject(answer)
    expect(reader.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('that breaks the protocol ends its own connection only', async () => {
    using connection = await connectRaw(gateway.url)
    connection.socket.write(get(stream(), { ...handshake, ...bearer() }))
    await connection.answered('101 Switching Protocols')
    // Not masked, with reserved bits: section 5.1 and 5.2 of RFC 6455.
    connection.socket.write(Buffer.from([0xf1, 0x05, 1, 2, 3, 4, 5]))
    await connection.closed
    expect(await gateway.call('GET', '/healthz')).toMatchObject({ status: 200 })
  })

  test('counts as a request: a flood is refused, then answered slowly, and others go on', async () => {
    const { agent: mallory, id: hers } = await addReader(gateway, 'mallory')
    using reader = await openWakeSocket(gateway, mallory, [hers])
    for (let count = 0; count < 3_000; count += 1) reader.socket.send('[]')
    expect(await reader.closed).toBe(1008)
    expect((await gateway.call('GET', '/v1/whoami', undefined, { key: donna.key })).status).toBe(200)
  })

  test('counts as bytes of its caller', async () => {
    const { agent: heavy, id: hers } = await addReader(gateway, 'heavy')
    await gateway.call('PATCH', '/v1/projects/default', { limits: { megabytesPerMinute: 1 } })
    using reader = await openWakeSocket(gateway, heavy, [hers])
    for (let count = 0; count < 5; count += 1) await reader.report(`[${' '.repeat(250_000)}]`)
    reader.socket.close()
    await reader.closed
    const { body } = await gateway.call('GET', '/v1/whoami', undefined, { key: heavy.key })
    expect(body).toMatchObject({ code: 'rate-limited', limitName: 'megabytesPerMinute' })
    await gateway.call('PATCH', '/v1/projects/default', { limits: { megabytesPerMinute: null } })
  })

  test('is not read after a flood of pongs, and others go on', async () => {
    using connection = await connectRaw(gateway.url)
    connection.socket.write(get(stream(), { ...handshake, ...bearer() }))
    await connection.answered('101 Switching Protocols')
    const flood = Buffer.concat(Array.from({ length: 10_000 }, () => Buffer.from([0x8a, 0x80, 0, 0, 0, 0])))
    let sent = 0
    while (!connection.socket.destroyed && sent < 100_000_000) {
      sent += flood.length
      const drained = new Promise((resolve) => connection.socket.once('drain', resolve))
      if (!connection.socket.write(flood)) await Promise.race([drained, connection.closed])
    }
    // The buffers of the system take no more than this.
    expect(sent).toBeLessThan(50_000_000)
    expect((await gateway.call('GET', '/v1/whoami', undefined, { key: donna.key })).status).toBe(200)
  })

  test('that is a flood of pings ends its connection', async () => {
    using connection = await connectRaw(gateway.url)
    connection.socket.write(get(stream(), { ...handshake, ...bearer() }))
    await connection.answered('101 Switching Protocols')
    connection.socket.write(Buffer.concat(Array.from({ length: 5_000 }, () => Buffer.from([0x89, 0x80, 0, 0, 0, 0]))))
    await connection.closed
  })
})

function fragments(socket: WebSocket, count: number): void {
  for (let index = 0; index < count; index += 1) socket.send('x', { fin: false })
}

function pongs(socket: WebSocket, count: number): void {
  for (let index = 0; index < count; index += 1) socket.pong()
}

test('compression is not spoken', async () => {
  using reader = await openWakeSocket(gateway, donna, [id], { perMessageDeflate: true })
  expect(reader.socket.extensions).toBe('')
})

test('a reader that takes nothing is ended when its key has too many unread bytes', async () => {
  const bytesMax = 1_000_000
  const unread = new UnreadAnswers(bytesMax)
  const left = new AbortController()
  const reader = {
    caller: { address: 'here' },
    revoked: new AbortController().signal,
    farewell: () => ({}),
    leave: () => left.abort(),
  }
  const server = createServer()
  server.on('upgrade', async (req, socket, head) => {
    const res = new ServerResponse(req)
    takeUpgrade(res, { socket: socket as Socket, head })
    const parts = { subscriptions: 1, unread, answer: async () => ({ event: 'receipts' as const, data: {} }) }
    const transport = socketTransport({ req: req as Request, res: res as Response }, reader, parts)
    await transport.open()
    // The buffers of the system take a few megabytes before anything waits.
    while (!left.signal.aborted) {
      transport.write('id', { body: 'x'.repeat(100_000), headers: {} })
      await new Promise(setImmediate)
    }
    transport.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  client.on('error', () => {})
  await once(client, 'open')
  client.pause()
  await until(
    () => left.signal.aborted && unread.bytesOf({ address: 'here' }) === 0,
    (isEnded) => isEnded,
  )
  client.terminate()
  await new Promise((closed) => server.close(closed))
})

test('a client that shows no life is cut off; one that answers pings is not', async () => {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => keepAlive(socket, 50))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const living = new WebSocket(url)
  const silent = new WebSocket(url, { autoPong: false })
  const ended = once(silent, 'close')
  let pings = 0
  living.on('ping', () => (pings += 1))
  await ended
  await until(
    () => pings,
    (count) => count >= 4,
  )
  expect(living.readyState).toBe(WebSocket.OPEN)
  living.terminate()
  await new Promise((closed) => server.close(closed))
})

describe('from one ping to the next', () => {
  async function kept(everyMs: number) {
    const server = createServer()
    const sockets = new WebSocketServer({ server })
    sockets.on('connection', (socket) => keepAlive(socket, everyMs))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const code = once(client, 'close').then(([code]) => code as number)
    await once(client, 'open')
    return {
      client,
      code,
      async [Symbol.asyncDispose]() {
        client.terminate()
        await new Promise((closed) => server.close(closed))
      },
    }
  }

  test('a client that sends more messages than it may is closed', async () => {
    await using s = await kept(3_600_000)
    for (let count = 0; count <= 5_000; count += 1) s.client.send('')
    expect(await s.code).toBe(1008)
  })

  test('the count of pongs begins again', async () => {
    await using s = await kept(50)
    let pings = 0
    s.client.on('ping', () => {
      pings += 1
      pongs(s.client, 64 / 2)
    })
    await until(
      () => pings,
      (count) => count >= 5,
    )
    expect(s.client.readyState).toBe(WebSocket.OPEN)
  })
})

test('it is spoken over TLS too', async () => {
  const file = (name: string): string => join(import.meta.dirname, '../faults/vouched-for', name)
  const env = { ROUSE_TLS_CERT: file('certificate.pem'), ROUSE_TLS_KEY: file('key.pem'), ROUSE_HOST: 'localhost' }
  await using gateway = await startGateway({ env })
  expect(gateway.url).toMatch(/^https:/)
  const ca = readFileSync(file('certificate.pem'))
  const socket = new WebSocket(`${gateway.url.replace('https', 'wss')}/v1/wake-stream?subscription=none`, { ca })
  const [error] = await once(socket, 'error')
  expect(String(error)).toContain('401')
})
