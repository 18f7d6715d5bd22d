import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { connectRaw } from '../support/raw-connection.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
  await gateway.addAgent('donna')
})

afterAll(() => gateway[Symbol.asyncDispose]())

const head = (path: string, key: string) =>
  `POST ${path} HTTP/1.1\r\nHost: ${new URL(gateway.url).host}\r\nContent-Type: application/json\r\n` +
  `Authorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`

const chunked = (text: string, size: number) =>
  (text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [])
    .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
    .join('')

const paths = ['/v1/messages', '/agents/donna', '/agents/donna/message:send', '/mcp']

test.each(paths)('a body of very many small chunks is refused with a reason: %s', async (path) => {
  using sending = await connectRaw(gateway.url)
  sending.socket.write(head(path, gateway.adminKey) + '1\r\nx\r\n'.repeat(20_000))
  await sending.closed
  // JSON-RPC says it in its own error.
  expect(sending.text()).toMatch(path === '/agents/donna' ? /^HTTP\/1.1 200 / : /^HTTP\/1.1 413 /)
  expect(sending.text()).toContain('more than 1000 chunks')
})

test.each(paths)('a connection that sends such a body without a valid key is closed: %s', async (path) => {
  using sending = await connectRaw(gateway.url)
  sending.socket.write(head(path, 'rk_unknown') + '1\r\nx\r\n'.repeat(20_000))
  await sending.closed
  expect(sending.text()).toMatch(/^HTTP\/1.1 (401|413) /)
})

test('after such bodies, those of other connections arrive as before', async () => {
  for (let count = 0; count < 20; count++) {
    using sending = await connectRaw(gateway.url)
    sending.socket.write(head('/v1/messages', 'rk_unknown') + '1\r\nx\r\n'.repeat(5_000))
    await sending.closed
  }
  const sent = await Promise.all(
    Array.from({ length: 40 }, (_, nth) =>
      gateway.call('POST', '/v1/messages', { to: '@donna', subject: `mail ${nth}` }),
    ),
  )
  expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 201))
})

test.each([
  ['a few hundred chunks of one byte', 'b'.repeat(400), 1],
  ['thousands of chunks of forty bytes', 'c'.repeat(200_000), 40],
  ['chunks larger than what is gathered', 'd'.repeat(200_000), 9_000],
])('a body in %s arrives whole', async (_how, body, size) => {
  using sending = await connectRaw(gateway.url)
  const mail = JSON.stringify({ to: '@donna', subject: 'in pieces', body })
  sending.socket.write(`${head('/v1/messages', gateway.adminKey)}${chunked(mail, size)}0\r\n\r\n`)
  const answer = await sending.answered('"messageId"')
  const [, id] = /"messageId":"([^"]+)"/.exec(answer)!
  expect((await gateway.call('GET', `/v1/messages/${id}`)).body.body).toBe(body)
})
