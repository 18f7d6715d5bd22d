import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { errorInfo, legacy, message, sending, wireTo } from './wire.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent
let wire: ReturnType<typeof wireTo>
let finished: string

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna', { inputModes: ['text/plain'] })
  lucy = await gateway.addAgent('lucy')
  wire = wireTo(gateway, donna, lucy.key)
  finished = (await gateway.send('donna', 'hello', { key: lucy.key })).id
  await gateway.move(donna, finished, 'completed')
})

afterAll(() => gateway[Symbol.asyncDispose]())

describe('the errors of the specification, §5.4', () => {
  const image = { parts: [{ url: 'https://example.com/a.png', mediaType: 'image/png' }] }
  // [what, method, params, REST method, path, body, code, HTTP status, its name, reason, message]
  const cases: [
    string,
    () => [string, JsonObject, string, string, unknown?],
    number,
    number,
    string,
    string,
    RegExp,
  ][] = [
    [
      'an unknown task',
      () => ['GetTask', { id: 'nope' }, 'GET', '/tasks/nope'],
      -32001,
      404,
      'NOT_FOUND',
      'TASK_NOT_FOUND',
      /no task nope/i,
    ],
    [
      'canceling a finished task',
      () => ['CancelTask', { id: finished }, 'POST', `/tasks/${finished}:cancel`],
      -32002,
      400,
      'FAILED_PRECONDITION',
      'TASK_NOT_CANCELABLE',
      /is completed and cannot be canceled/,
    ],
    [
      'a message to a finished task',
      () => {
        const params = sending({ taskId: finished })
        return ['SendMessage', params, 'POST', '/message:send', params]
      },
      -32004,
      400,
      'FAILED_PRECONDITION',
      'UNSUPPORTED_OPERATION',
      /Send a new message with contextId/,
    ],
    [
      'a media type that the agent does not take',
      () => ['SendMessage', sending(image), 'POST', '/message:send', sending(image)],
      -32005,
      400,
      'INVALID_ARGUMENT',
      'CONTENT_TYPE_NOT_SUPPORTED',
      /@donna accepts text\/plain, not image\/png/,
    ],
  ]

  test.each(cases)('%s', async (_, make, code, httpStatus, name, reason, words) => {
    const [method, params, verb, path, body] = make()
    const rpc = await wire.rpc(method, params)
    expect(rpc.status).toBe(200)
    expect(rpc.body).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code, data: [{ ...errorInfo, reason }] } })
    expect(rpc.body.error.message).toMatch(words)
    const rest = await wire.rest(verb, path, body)
    expect(rest.status).toBe(httpStatus)
    expect(rest.body).toMatchObject({
      error: { code: httpStatus, status: name, details: [{ ...errorInfo, reason }] },
    })
    expect(rest.body.error.message).toMatch(words)
    expect(rest.headers.get('content-type')).toContain('application/a2a+json')
  })

  test('a version that is not supported', async () => {
    const silent = vi.spyOn(console, 'error').mockImplementation(() => {})
    const headers = { 'A2A-Version': '9.9' }
    const rpc = await wire.rpc('GetTask', { id: 'x' }, headers)
    expect(rpc.body).toMatchObject({
      id: 7,
      error: { code: -32009, data: [{ ...errorInfo, reason: 'VERSION_NOT_SUPPORTED' }] },
    })
    expect(rpc.body.error.message).toMatch(/1\.0 and 0\.3/)
    const rest = await wire.rest('GET', '/tasks/x', undefined, headers)
    expect([rest.status, rest.body.error.details[0].reason]).toEqual([400, 'VERSION_NOT_SUPPORTED'])
    const card = await wire.rest('GET', '/.well-known/agent-card.json', undefined, headers)
    expect([card.status, card.body.error.details[0].reason]).toEqual([400, 'VERSION_NOT_SUPPORTED'])
    expect(silent).not.toHaveBeenCalled()
    silent.mockRestore()
  })

  test('v0.3 answers the same codes in its own shapes', async () => {
    const rpc = await wire.rpc('tasks/get', { id: 'nope' }, legacy)
    expect(rpc.body).toMatchObject({ id: 7, error: { code: -32001 } })
    const rest = await wire.rest('GET', '/v1/tasks/nope', undefined, legacy)
    expect([rest.status, rest.body.code]).toEqual([404, -32001])
    expect(rest.body.message).toMatch(/No task nope/i)
  })
})

describe('a body that is not a JSON-RPC request', () => {
  test.each([
    ['no JSON', '{', -32700, null, /^Invalid JSON payload/],
    ['nothing', '', -32600, null, /jsonrpc must be/],
    ['null', 'null', -32600, null, /request object/],
    ['a batch', '[]', -32600, null, /batches are not supported/],
    ['another jsonrpc', '{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600, 1, /jsonrpc must be "2\.0"/],
    ['no method', '{"jsonrpc":"2.0","id":"a"}', -32600, 'a', /method is required/],
    ['an id that is no id', '{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600, null, /id must be/],
    ['an id with a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}', -32600, null, /id must be/],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"Foo"}', -32601, 1, /v1\.0 has SendMessage/],
    ['a method of v0.3', '{"jsonrpc":"2.0","id":1,"method":"message\\/send"}', -32601, 1, /"A2A-Version: 0\.3"/],
    ['no params', '{"jsonrpc":"2.0","id":1,"method":"GetTask"}', -32602, 1, /params is required/],
    ['params in a list', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602, 1, /params is required/],
  ])('%s', async (_, body, code, id, words) => {
    const answer = await wire.post(body)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', id, error: { code, data: [errorInfo] } })
    expect(answer.body.error.message).toMatch(words)
  })

  test('a method of v1.0 called in v0.3 says which header to send', async () => {
    const { body } = await wire.rpc('SendMessage', sending(), legacy)
    expect(body.error).toMatchObject({ code: -32601, message: expect.stringContaining('"A2A-Version: 1.0"') })
  })

  test('a body that is not JSON by its type', async () => {
    const headers = { 'content-type': 'text/plain' }
    const rpc = await wire.post('hello', headers)
    expect(rpc.body.error).toMatchObject({ code: -32005, data: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] })
    const rest = await wire.rest('POST', '/message:send', 'hello', headers)
    expect([rest.status, rest.body.error.details[0].reason]).toEqual([400, 'CONTENT_TYPE_NOT_SUPPORTED'])
  })
})

describe('parameters', () => {
  test.each<[JsonObject, string]>([
    [{}, 'message'],
    [{ message: message({ messageId: '' }) }, 'message.messageId'],
    [{ message: message({ role: 'user' }) }, 'message.role'],
    [{ message: message({ role: 'ROLE_AGENT' }) }, 'message.role'],
    [{ message: message({ parts: [] }) }, 'message.parts'],
    [{ message: message({ parts: ['hello'] }) }, 'message.parts[0]'],
    [{ message: message({ parts: [{ text: 'a' }, {}] }) }, 'message.parts[1]'],
    [sending({}, { historyLength: -1 }), 'historyLength'],
    [sending({ metadata: { expiresAt: 'soon' } }), 'metadata.expiresAt'],
    [sending({ metadata: { expiresAt: '-1' } }), 'metadata.expiresAt'],
    [
      sending({}, { taskPushNotificationConfig: { url: 'http://10.0.0.1/' } }),
      'configuration.taskPushNotificationConfig.url',
    ],
  ])('SendMessage %j names the field', async (params, field) => {
    const rpc = await wire.rpc('SendMessage', params)
    expect(rpc.body.error).toMatchObject({ code: -32602, data: [{ reason: 'INVALID_PARAMS', metadata: { field } }] })
    const rest = await wire.rest('POST', '/message:send', params)
    expect(rest.status).toBe(400)
    expect(rest.body.error.details[0].reason).toBe('INVALID_PARAMS')
  })

  test.each([
    ['GetTask', 'id'],
    ['CancelTask', 'id'],
    ['ListTaskPushNotificationConfigs', 'taskId'],
  ])('%s without its id names it', async (method, field) => {
    const { body } = await wire.rpc(method, {})
    expect(body.error).toMatchObject({ code: -32602, data: [{ metadata: { field } }] })
  })

  test.each([
    ['message/send', {}],
    ['message/send', { message: { messageId: 'a', role: 'user' } }],
    ['message/send', { message: { messageId: 'a', role: 'user', parts: [{ kind: 'smoke' }] } }],
    ['tasks/get', {}],
    ['tasks/get', { id: 5 }],
    ['tasks/pushNotificationConfig/set', { taskId: 'a' }],
  ])('v0.3 %s %j is the caller’s fault, not ours', async (method, params) => {
    const { body } = await wire.rpc(method, params, legacy)
    expect(body.error.code).toBe(-32602)
  })

  const v03 = (fields: JsonObject, configuration: JsonObject = {}) => ({
    message: { kind: 'message', messageId: 'a', role: 'user', parts: [{ kind: 'text', text: 'x' }], ...fields },
    configuration: { blocking: false, ...configuration },
  })
  const hook = (authentication: unknown) => ({ url: 'http://127.0.0.1:9/', authentication })

  test.each<[string, JsonObject, RegExp]>([
    ['message/send', v03({ parts: [null] }), /params\.message\.parts\[0\]/],
    ['message/send', v03({ parts: [{ kind: 'smoke' }] }), /parts\[0\]\.kind: must be "text", "file" or "data"/],
    ['message/send', v03({ parts: [{ kind: 'file' }] }), /parts\[0\]\.file: is required/],
    ['message/stream', v03({ parts: [{ kind: 'file' }] }), /parts\[0\]\.file: is required/],
    ['message/send', v03({ parts: [{ kind: 'file', file: { bytes: 5 } }] }), /file\.bytes: .*string/],
    ['message/send', v03({ parts: [{ kind: 'data', data: 5, metadata: 5 }] }), /parts\[0\]\.metadata/],
    ['message/send', v03({ referenceTaskIds: {} }), /message\.referenceTaskIds: .*array/],
    ['message/send', v03({ extensions: 5 }), /message\.extensions: .*array/],
    ['message/send', v03({}, { acceptedOutputModes: 5 }), /acceptedOutputModes: .*array/],
    ['message/send', v03({}, { pushNotificationConfig: hook({ schemes: 'Bearer' }) }), /schemes: .*array/],
    [
      'tasks/pushNotificationConfig/set',
      { taskId: 'a', pushNotificationConfig: hook({ schemes: 'Bearer' }) },
      /params\.pushNotificationConfig\.authentication\.schemes: .*array/,
    ],
    ['tasks/pushNotificationConfig/set', { taskId: 'a', pushNotificationConfig: hook(5) }, /authentication: .*object/],
  ])('v0.3 %s %j names the malformed field', async (method, params, words) => {
    const { body } = await wire.rpc(method, params, legacy)
    expect(body).toMatchObject({ id: 7, error: { code: -32602, data: [{ ...errorInfo, reason: 'INVALID_PARAMS' }] } })
    expect(body.error.message).toMatch(words)
  })

  test.each<[unknown, RegExp]>([
    [null, /parts\[0\] needs one of/],
    [{ raw: 5 }, /parts\[0\] has bytes/],
  ])('a part %j is the caller’s fault in v1.0 too', async (part, words) => {
    const params = sending({ parts: [part] })
    const rpc = await wire.rpc('SendMessage', params)
    expect(rpc.body.error).toMatchObject({ code: -32602, message: expect.stringMatching(words) })
    const rest = await wire.rest('POST', '/message:send', params)
    expect([rest.status, rest.body.error.status]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(rest.body.error.message).toMatch(words)
  })

  test('bytes that are no text are the caller’s fault over REST in v0.3', async () => {
    const content = [{ file: { fileWithBytes: 5 } }]
    const body = { message: { messageId: 'a', role: 'ROLE_USER', content } }
    const answer = await wire.rest('POST', '/v1/message:send', body, legacy)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toMatch(/content\[0\] has bytes/)
  })

  test('v0.3 accepts ids of the wrong type as their text', async () => {
    const part = { kind: 'text', text: 'hello' }
    const { body } = await wire.rpc('message/send', v03({ parts: [part], taskId: 5 }), legacy)
    expect(body.error.code).toBe(-32001)
  })

  test('a path that is not well encoded is the caller’s fault', async () => {
    expect((await wire.rest('GET', '/tasks/%zz')).status).toBe(400)
    expect((await wire.rest('POST', '/v1/tasks/%zz/pushNotificationConfigs', {}, legacy)).status).toBe(400)
  })

  test('REST names a path without a route', async () => {
    const { status, body } = await wire.rest('GET', '/nothing')
    expect([status, body.error.status]).toEqual([404, 'NOT_FOUND'])
    expect(body.error.message).toMatch(/GET \/nothing/)
  })
})

describe('large bodies', () => {
  test('a message of one megabyte arrives whole', async () => {
    const text = 'x'.repeat(1_000_000)
    for (const { body } of [
      await wire.rpc('SendMessage', sending({ parts: [{ text }] })),
      await wire.rest('POST', '/message:send', sending({ parts: [{ text }] })),
    ]) {
      const { task } = body.result ?? body
      expect(task.history[0].parts[0].text).toHaveLength(1_000_000)
    }
  })

  test('one over the limit is refused with the limit in words', async () => {
    const parts = [{ text: 'x'.repeat(17_000_000) }]
    const rpc = await wire.rpc('SendMessage', sending({ parts }))
    expect(rpc.body.error).toMatchObject({ code: -32600, data: [{ reason: 'PAYLOAD_TOO_LARGE' }] })
    const rest = await wire.rest('POST', '/message:send', sending({ parts }))
    expect([rest.status, rest.body.error.details[0].reason]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect(rest.body.error.message).toMatch(/larger than/)
  })
})
