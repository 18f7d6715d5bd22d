import { SendMessageRequest } from '@a2a-js/sdk'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sending } from '../a2a/wire.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { servedMs } from '../support/served-time.ts'
import { refusalOf } from './raw-client.ts'

let gateway: TestGateway
let mallory: TestAgent
let client: Client

beforeAll(async () => {
  gateway = await startGateway({ env: { ROUSE_BLOCKING_TIMEOUT: '0' } })
  await liftRates(gateway)
  mallory = await gateway.addAgent('mallory')
  client = new Client(String(gateway.grpcTarget), credentials.createInsecure())
})

afterAll(async () => {
  client.close()
  await gateway[Symbol.asyncDispose]()
})

/** Sends these bytes as the request, whatever they are. */
function sendBytes(
  bytes: Uint8Array,
  path: string = A2AService.sendMessage.path,
): Promise<{ code: number; details: string }> {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${mallory.key}`)
  metadata.set('a2a-tenant', 'agents/mallory')
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      path,
      (raw: Uint8Array) => Buffer.from(raw),
      (raw: Buffer) => raw,
      bytes,
      metadata,
      { deadline: Date.now() + 15_000 },
      (error: ServiceError | null) => resolve(error ? refusalOf(error) : { code: status.OK, details: '' }),
    )
  })
}

/** One field that holds bytes: a text or a message. */
function field(number: number, content: Uint8Array | string): Uint8Array {
  const writer = new BinaryWriter().uint32((number << 3) | 2)
  return (typeof content === 'string' ? writer.string(content) : writer.bytes(content)).finish()
}

const joined = (...parts: Uint8Array[]): Uint8Array => Buffer.concat(parts)
const request = (message: Uint8Array): Uint8Array => joined(field(1, 'agents/mallory'), field(2, message))
const legacyPath = '/a2a.v1.A2AService/SendMessage'

/** `{"a": {"a": … }}` as a google.protobuf.Struct of this many levels, written from the outermost one. */
function nestedStruct(levels: number): Uint8Array {
  const heads: Uint8Array[] = []
  let inner = 0
  const within = (number: number, before = ''): void => {
    const head = new BinaryWriter()
      .uint32((number << 3) | 2)
      .uint32(inner + before.length)
      .finish()
    heads.push(joined(head, Buffer.from(before)))
    inner += head.length + before.length
  }
  for (let level = 0; level < levels; level++) {
    within(5)
    within(2)
    within(1, '\n\u0001a')
  }
  return joined(...heads.reverse())
}

async function answersAtOnce(): Promise<void> {
  expect(await sendBytes(plain())).toMatchObject({ code: status.OK })
}

const plain = (): Uint8Array =>
  A2AService.sendMessage.requestSerialize(SendMessageRequest.fromJSON({ tenant: 'agents/mallory', ...sending() }))

test.each([
  ['1.0', 5, undefined],
  ['0.3', 5, legacyPath],
])('a hundred thousand parts over gRPC %s are refused before they are made', async (_, number, path) => {
  const parts = Buffer.alloc(200_000)
  for (let at = 0; at < parts.length; at += 2) parts[at] = (number << 3) | 2
  const message = joined(field(1, 'm'), parts)
  const bytes = path ? field(1, message) : request(message)
  const started = servedMs()
  expect(await sendBytes(bytes, path)).toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: expect.stringContaining('20000 values'),
  })
  expect(servedMs() - started).toBeLessThan(2_000)
  await answersAtOnce()
})

test('so are a hundred thousand references, and as many values of metadata', async () => {
  const references = Buffer.concat(Array(100).fill(Buffer.concat(Array(1_000).fill(field(8, 'x')))))
  expect((await sendBytes(request(references))).details).toContain('20000 values')
  const values = Buffer.concat(Array(100).fill(Buffer.concat(Array(1_000).fill(field(1, field(1, ''))))))
  expect(
    (await sendBytes(joined(request(field(1, 'm')), field(4, field(1, field(2, field(6, values))))))).details,
  ).toContain('20000 values')
  await answersAtOnce()
})

test.each([65, 1_000, 40_000])('metadata of %i levels is refused, and the connection continues', async (levels) => {
  const answer = await sendBytes(joined(request(field(1, 'm')), field(4, nestedStruct(levels))))
  expect(answer.code).toBe(status.INVALID_ARGUMENT)
  expect(answer.details).toMatch(/64 levels|20000 values/)
  await answersAtOnce()
})

test('bytes that are not a message of the method are an invalid request', async () => {
  expect(await sendBytes(Buffer.from([0xff, 0xff, 0xff]))).toMatchObject({ code: status.INVALID_ARGUMENT })
  expect(await sendBytes(field(2, Buffer.from([0x0a, 0x7f])))).toMatchObject({ code: status.INVALID_ARGUMENT })
})

test('a text with U+0000 is refused in every field', async () => {
  for (const bytes of [field(1, 'agents/\0'), request(field(1, 'a\0')), request(field(2, '\0'))]) {
    expect(await sendBytes(bytes)).toMatchObject({ code: status.INVALID_ARGUMENT, details: /U\+0000/ })
  }
})

test('no bytes are a failure of the gateway', async () => {
  const whole = Buffer.from(plain())
  const methods = Object.values(A2AService).map(({ path, responseStream }) => (responseStream ? undefined : path))
  const path = fc.constantFrom(...methods.filter((one) => one !== undefined), legacyPath, '/a2a.v1.A2AService/GetTask')
  const changed = fc
    .record({
      at: fc.nat(whole.length - 1),
      byte: fc.nat(255),
      cut: fc.nat(whole.length),
      more: fc.uint8Array({ maxLength: 20 }),
    })
    .map(({ at, byte, cut, more }) => {
      const bytes = Buffer.from(whole)
      bytes[at] = byte
      return Buffer.concat([bytes.subarray(0, Math.max(cut, at)), more])
    })
  const bytes = fc.oneof(changed, fc.uint8Array({ maxLength: 60 }))
  await fc.assert(
    fc.asyncProperty(path, bytes, async (at, sent) => {
      const { code, details } = await sendBytes(sent, at)
      expect([status.INTERNAL, status.UNKNOWN, status.DEADLINE_EXCEEDED], details).not.toContain(code)
    }),
    { numRuns: 300 },
  )
  await answersAtOnce()
})
