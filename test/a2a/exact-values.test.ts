import { SendMessageRequest } from '@a2a-js/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { type Said, sixWays } from './six-ways.ts'
import { errorInfo, legacy, message, sending, wireTo } from './wire.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent
let wire: ReturnType<typeof wireTo>
let six: ReturnType<typeof sixWays>

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
  wire = wireTo(gateway, donna, lucy.key)
  six = sixWays(gateway, donna, lucy)
})

afterAll(async () => {
  six[Symbol.dispose]()
  await gateway[Symbol.asyncDispose]()
})

/** `levels` arrays in one another. */
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])

describe('what a part holds', () => {
  const flaws: [string, JsonObject, RegExp][] = [
    ['data that is null', { data: null }, /data/],
    ['two contents', { text: 'a', url: 'https://example.com/b' }, /more than one of text, url/],
    ['bytes that are not base64', { raw: 'not base64!!' }, /base64/],
    ['bytes of an impossible length', { raw: 'AAAAA' }, /base64/],
    ['metadata that is no object', { text: 'a', metadata: 'x' }, /metadata/],
    ['nothing', {}, /needs one of text, raw, url or data/],
  ]

  test.each(flaws)('is refused over JSON-RPC and HTTP+JSON: %s', async (_, part, words) => {
    const rpc = await wire.rpc('SendMessage', sending({ parts: [part] }))
    expect(rpc.body.error).toMatchObject({ code: -32602, message: expect.stringMatching(words) })
    const rest = await wire.rest('POST', '/message:send', sending({ parts: [part] }))
    expect([rest.status, rest.body.error.message]).toEqual([400, expect.stringMatching(words)])
  })

  test.each(flaws)('is refused in what an assignee writes: %s', async (_, part) => {
    const { id } = await gateway.send('donna', 'hello', { key: lucy.key })
    const artifact = { artifact: { parts: [part] } }
    expect((await gateway.call('POST', `/v1/tasks/${id}/artifacts`, artifact, donna)).status).toBe(400)
    expect((await gateway.move(donna, id, 'completed', { message: { parts: [part] } })).status).toBe(400)
    expect((await gateway.move(donna, id, 'completed', { message: { parts: [{ text: 5 }] } })).status).toBe(400)
  })

  test('data that is null is refused over gRPC too', async () => {
    using client = rawClient(gateway.grpcTarget)
    const request = SendMessageRequest.fromJSON({ tenant: 'agents/donna', message: message() })
    request.message!.parts[0]!.content = { $case: 'data', value: null }
    const answer = await client.unary('sendMessage', request, bearer(lucy.key))
    expect(answer).toMatchObject({ code: 3, details: expect.stringContaining('message.parts[0].data') })
  })

  test('bytes that are not base64 are refused in v0.3', async () => {
    const file = { kind: 'file', file: { bytes: 'not base64!!' } }
    const said = { message: { kind: 'message', messageId: 'm', role: 'user', parts: [file] } }
    expect((await wire.rpc('message/send', said, legacy)).body.error).toMatchObject({ code: -32602 })
    const content = [{ file: { fileWithBytes: 'not base64!!' } }]
    const rest = await wire.rest('POST', '/v1/message:send', { message: { messageId: 'm', role: 1, content } }, legacy)
    expect(rest.status).toBe(400)
  })

  test.each(['AAEC/w==', 'AAEC/w', 'AAEC_w', ''])('bytes in any base64 are kept: "%s"', async (raw) => {
    const { body } = await wire.rpc('SendMessage', sending({ parts: [{ raw }, { text: 'a' }] }))
    expect(body.result.task.history[0].parts[0].raw).toBe(raw && 'AAEC/w==')
  })
})

describe('a message of many levels', () => {
  test('is the sender’s fault over each binding', async () => {
    const deep = { parts: [{ text: 'x' }], metadata: { deep: nested(40) } }
    for (const [way, send] of Object.entries(six as Record<string, (message: JsonObject) => Promise<Said>>)) {
      const { isTheirs, refusal } = await send(deep)
      expect([way, isTheirs, refusal], way).toEqual([way, true, expect.stringContaining('32 levels')])
    }
    const { id } = await gateway.send('donna', 'hello', { key: lucy.key })
    const artifact = { artifact: { parts: [{ data: nested(40) }] } }
    const { body } = await gateway.call('POST', `/v1/tasks/${id}/artifacts`, artifact, donna)
    expect(body).toMatchObject({ status: 400, code: 'invalid-request', limit: 'contentDepth' })
  })

  test('of 5,000 levels is the sender’s fault', async () => {
    const parts = `[{"data":${'['.repeat(5000)}${']'.repeat(5000)}}]`
    const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":${parts}}}}`
    const answer = await wire.post(body)
    expect(answer.body.error.code).not.toBe(-32603)
  })

  test('that is allowed is read over gRPC', async () => {
    const { body } = await wire.rpc('SendMessage', sending({ parts: [{ data: nested(28) }] }))
    using client = rawClient(gateway.grpcTarget)
    const request = { tenant: 'agents/donna', id: body.result.task.id }
    expect(await client.unary('getTask', request, bearer(lucy.key))).toMatchObject({
      value: { id: body.result.task.id },
    })
  })
})

describe('the version of a path', () => {
  test.each([
    ['0.3', 'GET', '/tasks/x'],
    ['0.3', 'POST', '/message:send'],
    ['1.0', 'POST', '/v1/message:send'],
    ['1.0', 'GET', '/v1/tasks/x'],
  ])('A2A-Version %s is refused at %s %s', async (version, method, path) => {
    const body = method === 'POST' ? sending() : undefined
    const { status, body: refused } = await wire.rest(method, path, body, { 'A2A-Version': version })
    expect(status).toBe(400)
    expect(refused.error.details[0]).toMatchObject({ ...errorInfo, reason: 'VERSION_NOT_SUPPORTED' })
  })

  test('1 is 1.0 for calls as for cards', async () => {
    const headers = { 'A2A-Version': '1' }
    expect((await wire.rpc('ListTasks', {}, headers)).body.result).toBeTruthy()
    expect((await wire.rest('GET', '/.well-known/agent-card.json', undefined, headers)).status).toBe(200)
  })
})

describe('a field of another kind than the specification has', () => {
  const wrong: [string, JsonObject, JsonObject?][] = [
    ['contextId', { contextId: ['a'] }],
    ['contextId', { contextId: { a: 1 } }],
    ['messageId', { messageId: [] }],
    ['text', { parts: [{ text: { hello: 'you' } }] }],
    ['filename', { parts: [{ text: 'a', filename: ['b'] }] }],
    ['referenceTaskIds', { referenceTaskIds: [['a']] }],
    ['referenceTaskIds', { referenceTaskIds: [null] }],
    ['extensions', { extensions: 'https://example.com/e' }],
    ['returnImmediately', {}, { returnImmediately: 'false' }],
    ['historyLength', {}, { historyLength: '' }],
    ['historyLength', {}, { historyLength: ['5'] }],
    ['acceptedOutputModes', {}, { acceptedOutputModes: 'text/plain' }],
    ['authentication', {}, { taskPushNotificationConfig: { url: 'https://x.example/', authentication: 'Bearer x' } }],
  ]

  test.each(wrong)('is refused: %s in %j %j', async (field, fields, configuration) => {
    const rpc = await wire.rpc('SendMessage', sending(fields, configuration))
    expect(rpc.body.error).toMatchObject({ code: -32602, message: expect.stringContaining(`${field}: must be`) })
    const rest = await wire.rest('POST', '/message:send', sending(fields, configuration))
    expect([rest.status, rest.body.error.message]).toEqual([400, expect.stringContaining(`${field}: must be`)])
  })

  test.each(['configuration', 'message', 'metadata'])('is refused where it holds others: %s', async (field) => {
    for (const value of ['x', [{ returnImmediately: true }], 5]) {
      const rpc = await wire.rpc('SendMessage', { ...sending(), [field]: value })
      expect(rpc.body.error).toMatchObject({ code: -32602, message: expect.stringContaining(field) })
      const rest = await wire.rest('POST', '/message:send', { ...sending(), [field]: value })
      expect([rest.status, rest.body.error.message]).toEqual([400, expect.stringContaining(field)])
    }
  })

  test('is refused where there is no message too', async () => {
    for (const [method, params] of [
      ['GetTask', { id: ['a'] }],
      ['CancelTask', { id: {} }],
      ['CancelTask', { id: 'a', metadata: 'x' }],
      ['ListTasks', { contextId: ['a'] }],
      ['ListTasks', { pageSize: ['5'] }],
      ['ListTasks', { includeArtifacts: 'false' }],
    ] as const)
      expect((await wire.rpc(method, params)).body.error, JSON.stringify(params)).toMatchObject({ code: -32602 })
    const rest = await wire.rest('POST', '/tasks/x:cancel', { metadata: 'x' })
    expect([rest.status, rest.body.error.message]).toEqual([400, expect.stringContaining('metadata')])
  })

  test('is not what a number as a text is, nor what the client and later versions have there', async () => {
    const data: JsonObject = { text: ['a'], id: {}, toString: 1 }
    const fields: JsonObject = {
      parts: [{ text: 5, toString: 1 }, { data }],
      metadata: data,
      later: { name: {}, text: [] },
    }
    const { body } = await wire.rpc('SendMessage', sending(fields, { historyLength: '5' }))
    expect(body.result.task.history[0].parts).toMatchObject([{ text: '5' }, { data }])
  })
})

// The attack: the SDK makes as many bytes of an object as its `length` says, one after the other, on the gateway's thread.
describe('bytes in v0.3 over HTTP+JSON that are an object with a length', () => {
  const part = (bytes: unknown): JsonObject => ({ file: { fileWithBytes: bytes } })
  const sent = (bytes: unknown): JsonObject => ({ messageId: crypto.randomUUID(), role: 1, content: [part(bytes)] })
  const long = { length: 2_000_000_000 }

  test.each<[string, JsonObject]>([
    ['in a message', { message: sent(long) }],
    ['in a request', { request: sent(long) }],
    ['beside empty parts', { message: { ...sent(long), parts: [] } }],
    ['beside empty bytes', { message: { ...sent(''), content: [{ raw: '', ...part(long) }] } }],
    [
      'in the spelling of the .proto file',
      { request: { ...sent(''), content: [{ file: { file_with_bytes: long } }] } },
    ],
    ['or are no value', { request: { ...sent(''), content: [null] } }],
    ['or are a URI', { request: { ...sent(''), content: [{ file: { fileWithUri: { a: 1 } } }] } }],
  ])('are refused: %s', async (_, body) => {
    const { status, body: refused } = await wire.rest('POST', '/v1/message:send', body, legacy)
    expect([status, JSON.stringify(refused)]).toEqual([400, expect.stringMatching(/content|fileWithUri/)])
  })

  test.each([{ configId: ['a'] }, { config_id: {} }, { config: [{}] }, { config: 'x' }])(
    'and so is a push config: %j',
    async (fields) => {
      const body = { config: { pushNotificationConfig: { url: 'https://x.example/' } }, ...fields }
      const path = '/v1/tasks/t/pushNotificationConfigs'
      const { status, body: refused } = await wire.rest('POST', path, body, legacy)
      expect([status, JSON.stringify(refused)]).toEqual([400, expect.stringContaining(Object.keys(fields)[0]!)])
    },
  )
})

describe('a tenant over HTTP', () => {
  test.each(['nope', 'agents/lucy', 'projects/blue/agents/donna'])(
    'that is another agent is refused: %s',
    async (tenant) => {
      const rpc = await wire.rpc('SendMessage', { tenant, ...sending() })
      expect(rpc.body.error).toMatchObject({ code: -32602, message: expect.stringContaining('tenant') })
      const rest = await wire.rest('POST', '/message:send', { tenant, ...sending() })
      expect([rest.status, rest.body.error.message]).toEqual([400, expect.stringContaining('tenant')])
    },
  )

  test.each([[5], [['agents/donna']], [{ toString: 1 }], [[{ toString: 1 }]]])(
    'that is no string is refused: %j',
    async (tenant) => {
      const rpc = await wire.rpc('SendMessage', { tenant, ...sending() })
      expect(rpc.body.error).toMatchObject({ code: -32602, message: expect.stringMatching(/tenant|toString/) })
      const rest = await wire.rest('POST', '/message:send', { tenant, ...sending() })
      expect([rest.status, rest.body.error.message]).toEqual([400, expect.stringContaining('tenant')])
    },
  )

  test('in the path is refused', async () => {
    expect((await wire.rest('POST', '/nope/message:send', sending())).status).toBe(404)
    expect((await wire.rest('GET', '/nope/tasks')).status).toBe(404)
    expect((await wire.rest('GET', '/tasks?tenant=nope')).status).toBe(400)
  })

  test.each(['agents/donna', 'projects/default/agents/donna', ''])(
    'that is this agent is accepted: "%s"',
    async (tenant) => {
      expect((await wire.rpc('ListTasks', { tenant })).body.result).toBeTruthy()
    },
  )
})

describe('an envelope', () => {
  test('of ListTasks needs no params', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks' }
    expect((await wire.post(body)).body.result.tasks).toBeInstanceOf(Array)
  })

  test('without an id is refused, and not executed', async () => {
    const before = (await wire.rpc('ListTasks', {})).body.result.totalSize
    const { body } = await wire.post({ jsonrpc: '2.0', method: 'SendMessage', params: sending() })
    expect(body.error).toMatchObject({ code: -32600, message: expect.stringContaining('id is required') })
    expect((await wire.rpc('ListTasks', {})).body.result.totalSize).toBe(before)
  })

  test.each([
    ['1.0', 'SendMessage', sending(), -32600],
    ['1.0', 'Foo', {}, -32601],
    ['1.0', 'GetTask', undefined, -32602],
    ['0.3', 'message/send', { message: { messageId: 'm', role: 'user', parts: [] } }, -32600],
    ['0.3', 'tasks/foo', {}, -32601],
    ['0.3', 'message/send', { message: { parts: [{ kind: 'text' }] } }, -32602],
  ])('without an id in v%s is judged by its method and params first: %s', async (version, method, params, code) => {
    const { status, body } = await wire.post({ jsonrpc: '2.0', method, params }, { 'A2A-Version': version })
    expect([status, body.id, body.error.code]).toEqual([200, null, code])
  })

  test('of an unknown task is answered with the words of the specification and its id', async () => {
    const { error } = (await wire.rpc('GetTask', { id: 'nope' })).body
    expect(error.message).toContain('not found')
    expect(error.message).not.toContain('/v1')
    expect(error.data[0].metadata).toMatchObject({ taskId: 'nope' })
  })
})
