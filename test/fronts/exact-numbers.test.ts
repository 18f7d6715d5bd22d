import { SendMessageRequest } from '@a2a-js/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { legacy, message, wireTo } from '../a2a/wire.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import type { Answer, TestAgent, TestGateway } from '../support/gateway.ts'
import { askMcp } from './mcp/http/call-tool.ts'
import { type Office, openOffice } from './mcp/office.ts'

let office: Office
let gateway: TestGateway
let bob: TestAgent
let wire: ReturnType<typeof wireTo>

beforeAll(async () => {
  office = await openOffice()
  ;({ gateway, bob } = office)
  wire = wireTo(gateway, office.donna, bob.key)
})

afterAll(() => office[Symbol.asyncDispose]())

/** A number of the length of many ids. No program in JavaScript can hold it, so it is put into the text of a request. */
const digits = '1234567890123456789'
const withNumber = (body: unknown): string => JSON.stringify(body).replaceAll('"$number"', digits)

const part = { data: { chat: '$number' } }
const current = { message: message({ parts: [part] }) }
const old = { message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'data', ...part }] } }
const oldProto = { message: { messageId: 'm', role: 'ROLE_USER', content: [{ data: part }] } }
const rpc = (method: string, params: JsonObject) => ({ jsonrpc: '2.0', id: 7, method, params })

const mail = { to: '@donna', subject: 's', payload: { chat: '$number' } }
const post = (path: string, body: unknown): Promise<Answer> => gateway.call('POST', path, withNumber(body), bob)

describe('an integer that no reader would get as it was sent', () => {
  test.each<[string, string, () => Promise<Answer>]>([
    ['a message over REST', 'payload.chat', () => post('/v1/messages', mail)],
    ['JSON-RPC v1.0', 'params.message.parts[0].data.chat', () => wire.post(withNumber(rpc('SendMessage', current)))],
    [
      'JSON-RPC v0.3',
      'params.message.parts[0].data.chat',
      () => wire.post(withNumber(rpc('message/send', old)), legacy),
    ],
    ['HTTP+JSON v1.0', 'message.parts[0].data.chat', () => wire.rest('POST', '/message:send', withNumber(current))],
    [
      'HTTP+JSON v0.3',
      'message.content[0].data.data.chat',
      () => wire.rest('POST', '/v1/message:send', withNumber(oldProto), legacy),
    ],
    ['the id of a JSON-RPC request', 'id', () => wire.post(withNumber({ ...rpc('ListTasks', {}), id: '$number' }))],
  ])('is refused in %s, with its field and the remedy', async (_, field, send) => {
    const text = JSON.stringify((await send()).body)
    expect(text).toContain(`${field}: ${digits} cannot be read without a loss`)
    expect(text).toContain('Send it as a text')
    expect(text).toMatch(/invalid-request|INVALID_REQUEST|-32600/)
  })

  test('is refused in an artifact', async () => {
    const { id } = await gateway.send('donna', 'hello', { key: bob.key })
    const artifact = withNumber({ artifact: { parts: [part] } })
    const { status, body } = await gateway.call('POST', `/v1/tasks/${id}/artifacts`, artifact, office.donna)
    expect([status, body.code, body.field]).toEqual([400, 'invalid-request', 'artifact.parts[0].data.chat'])
  })

  test('is refused in a tool of MCP, over HTTP and by a client that reads its JSON itself', async () => {
    const tool = { name: 'send_message', arguments: mail }
    const posted = await askMcp(
      { call: (method, path, body, options) => gateway.call(method, path, withNumber(body), options) },
      bob.key,
      'tools/call',
      tool,
    )
    expect(JSON.stringify(posted.body)).toContain(`payload.chat: ${digits} cannot be read without a loss`)
    const read = await office.bob.run('send_message', JSON.parse(withNumber(mail)))
    expect([read.isError, read.text]).toEqual([true, expect.stringContaining('payload.chat: is beyond 2^53')])
  })

  test('is not there over gRPC, whose numbers have the digits that are passed on; one that is not finite is refused', async () => {
    using client = rawClient(gateway.grpcTarget)
    const send = async (chat: number) => {
      const request = SendMessageRequest.fromJSON({
        tenant: 'agents/donna',
        message: message({ parts: [{ data: { chat } }] }),
        configuration: { returnImmediately: true },
      })
      // biome-ignore lint/suspicious/noExplicitAny: what the wire carries
      return (await client.unary('sendMessage', request, bearer(bob.key))) as any
    }
    const sent = await send(Number(digits))
    const { body } = await gateway.call('GET', `/v1/tasks/${sent.value.payload.value.id}`, undefined, bob)
    expect(body.history[0].parts[0].data.chat).toBe(Number(digits))
    expect(await send(Number.NaN)).toMatchObject({ code: 3, details: expect.stringContaining('NaN') })
  })

  test('as a text is passed on', async () => {
    const { body } = await gateway.call('POST', '/v1/messages', { ...mail, payload: { chat: digits } }, bob)
    const read = await gateway.call('GET', `/v1/messages/${body.messageId}`, undefined, bob)
    expect(read.body.payload).toEqual({ chat: digits })
  })
})

test('numbers that a program in JavaScript holds are passed on as they are', async () => {
  const payload = { a: Number.MAX_SAFE_INTEGER, b: 1e20, c: 5e-324, d: 0.1, e: Number.MAX_VALUE, f: 2 ** 60 }
  const { body } = await gateway.call('POST', '/v1/messages', { ...mail, payload }, bob)
  expect((await gateway.call('GET', `/v1/messages/${body.messageId}`, undefined, bob)).body.payload).toEqual(payload)
})
