import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { connectRaw } from '../support/raw-connection.ts'

/** Short bounds, so that no test waits for the seconds of the table. */
const bounds = { headers: 0.4, request: 2 }
let gateway: TestGateway
let host: string

beforeAll(async () => {
  gateway = await startGateway({ overrides: { connectionBounds: bounds } })
  host = new URL(gateway.url).host
  await gateway.addAgent('donna')
})

afterAll(() => gateway[Symbol.asyncDispose]())

const head = (path: string, length: string, key: string | undefined = undefined) =>
  `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${length}\r\n` +
  `${key === undefined ? '' : `Authorization: Bearer ${key}\r\n`}\r\n`

const paths = ['/v1/messages', '/agents/donna', '/agents/donna/message:send', '/agents/donna/v1/message:send']

test('silence, and headers that drip, are ended at the deadline', async () => {
  using silent = await connectRaw(gateway.url)
  using dripping = await connectRaw(gateway.url)
  const drip = setInterval(() => dripping.socket.write('X'), 50)
  dripping.socket.write('GET /healthz HTTP/1.1\r\n')
  expect(await silent.closed).toBeLessThan(5)
  expect(await dripping.closed).toBeLessThan(5)
  clearInterval(drip)
  for (const { text } of [silent, dripping]) expect(text()).toMatch(/^$|^HTTP\/1.1 408 /)
})

test.each(paths)('a body that drips is ended at the deadline, although its key is valid: %s', async (path) => {
  using dripping = await connectRaw(gateway.url)
  dripping.socket.write(head(path, 'Content-Length: 100000', gateway.adminKey))
  const drip = setInterval(() => dripping.socket.write(' '), 50)
  expect(await dripping.closed).toBeLessThan(10)
  expect(dripping.text()).toMatch(/^$|^HTTP\/1.1 408 /)
  clearInterval(drip)
})

test.each(paths)('without a key not a byte of a body is waited for: %s', async (path) => {
  using asking = await connectRaw(gateway.url)
  asking.socket.write(head(path, 'Transfer-Encoding: chunked'))
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  let isStuck = false
  let sent = 0
  // As fast as it is taken.
  const send = () => {
    while (sent < 200_000_000 && !asking.socket.destroyed) {
      sent += chunk.length
      if (!asking.socket.write(chunk)) {
        isStuck = true
        asking.socket.once('drain', () => {
          isStuck = false
          send()
        })
        return
      }
    }
  }
  send()
  const answer = await asking.answered('\r\n\r\n')
  expect(answer).toMatch(/^HTTP\/1.1 401 /)
  expect(answer).toMatch(/^Connection: close\r$/m)
  await asking.closed
  expect(isStuck || asking.socket.destroyed).toBe(true)
  // The size of the socket buffers between two processes on this machine.
  expect(sent).toBeLessThan(30_000_000)
})

test('an endless body is ended at the size limit, although its key is valid and it arrives fast', async () => {
  using endless = await connectRaw(gateway.url)
  endless.socket.write(head('/v1/messages', 'Transfer-Encoding: chunked', gateway.adminKey))
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  const send = () => {
    if (!endless.socket.destroyed && endless.socket.write(chunk)) setImmediate(send)
    else endless.socket.once('drain', send)
  }
  send()
  expect(await endless.answered('"code":"payload-too-large"')).toMatch(/^HTTP\/1.1 413 /)
  await endless.closed
})

test('Expect: 100-continue is answered with a valid key, and refused without one', async () => {
  const body = JSON.stringify({ handle: 'asks-first' })
  const length = `Content-Length: ${body.length}\r\nExpect: 100-continue`
  using refused = await connectRaw(gateway.url)
  refused.socket.write(head('/v1/agents', length))
  expect(await refused.answered('unauthenticated')).toMatch(/^HTTP\/1.1 401 /)
  await refused.closed
  using taken = await connectRaw(gateway.url)
  taken.socket.write(head('/v1/agents', length, gateway.adminKey))
  expect(await taken.answered('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  taken.socket.write(body)
  expect(await taken.answered('apiKey')).toContain('HTTP/1.1 201 ')
})

test('an answer before the end of a body reaches a client that is still sending', async () => {
  // The bounds of the table: this client shares its thread with the gateway and may be slow to send its headers.
  await using ordinary = await startGateway()
  await ordinary.addAgent('donna')
  const response = await fetch(`${ordinary.url}/agents/donna`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: 'x'.repeat(15_000_000),
  })
  expect([response.status, await response.text()]).toEqual([401, expect.stringContaining('rk_')])
})

test('a request without a body leaves its connection open, whatever the answer', async () => {
  using asking = await connectRaw(gateway.url)
  asking.socket.write(`GET /v1/messages HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  expect(await asking.answered('unauthenticated')).not.toMatch(/^Connection: close\r$/m)
  asking.socket.write(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  expect(await asking.answered('"status":"ok"')).toContain('HTTP/1.1 200 ')
})
