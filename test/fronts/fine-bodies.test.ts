import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BodyPieces } from '../../src/fronts/body-pieces.ts'
import { connectionLimits } from '../../src/gateway-limits.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { connectRaw } from '../support/raw-connection.ts'

const { bodyPieces } = connectionLimits
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
  expect(sending.text()).toMatch(/^HTTP\/1.1 413 /)
  expect(sending.text()).toContain(`more than ${bodyPieces.max} chunks`)
  expect(sending.text()).toContain('"limit":"bodyPieces"')
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

test('pieces that are passed on are the body, in its order, whatever their sizes', () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 6_000 })), {
    minLength: 250,
    maxLength: 700,
  })
  fc.assert(
    fc.property(sizes, (all) => {
      const pieces = new BodyPieces(Number.POSITIVE_INFINITY)
      const given = all.map((size, nth) => Buffer.alloc(size, nth))
      const passed: Buffer[] = []
      const pass = (piece: Buffer): boolean => passed.push(piece) > 0
      for (const piece of given) pieces.take(piece, pass)
      pieces.passRest(pass)
      expect(Buffer.concat(passed).equals(Buffer.concat(given))).toBe(true)
      // Those that wait to be read are few: the first ones, and then 4 KiB or more each, but for the last ones before a large one.
      expect(passed.length).toBeLessThanOrEqual(256 + 1 + 2 * (Buffer.concat(given).length / 4_096))
    }),
    { numRuns: 50 },
  )
})
