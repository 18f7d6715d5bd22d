import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { legacy, wireTo } from './wire.ts'

let gateway: TestGateway
let wire: ReturnType<typeof wireTo>

beforeAll(async () => {
  gateway = await startGateway({ env: { ROUSE_BLOCKING_TIMEOUT: '0' } })
  const donna = await gateway.addAgent('donna')
  wire = wireTo(gateway, donna, (await gateway.addAgent('lucy')).key)
})

afterAll(() => gateway[Symbol.asyncDispose]())

const nulls = (...names: string[]): JsonObject => Object.fromEntries(names.map((name) => [name, null]))

const ofMessage = nulls('contextId', 'taskId', 'metadata', 'extensions', 'referenceTaskIds')
const pushed = { url: 'http://127.0.0.1:9/hook', ...nulls('id', 'token', 'authentication') }

/** Each has null in every field that may be left out, as serialisers of typed clients write it. */
const versions = [
  {
    version: '1.0',
    send: (message: JsonObject, more: JsonObject = {}) => wire.rpc('SendMessage', { message, ...more }),
    get: (params: JsonObject) => wire.rpc('GetTask', params),
    message: {
      messageId: 'm',
      role: 'ROLE_USER',
      parts: [
        { text: 'hello', ...nulls('metadata', 'filename', 'mediaType', 'raw', 'url') },
        { raw: 'AAAA', ...nulls('metadata', 'filename', 'mediaType', 'text', 'url') },
        { data: { a: null }, ...nulls('metadata', 'filename', 'mediaType', 'text', 'raw', 'url') },
      ],
      ...ofMessage,
    },
    more: {
      configuration: {
        taskPushNotificationConfig: pushed,
        ...nulls('acceptedOutputModes', 'historyLength', 'returnImmediately'),
      },
      metadata: null,
    },
  },
  {
    version: '0.3',
    send: (message: JsonObject, more: JsonObject = {}) => wire.rpc('message/send', { message, ...more }, legacy),
    get: (params: JsonObject) => wire.rpc('tasks/get', { metadata: null, ...params }, legacy),
    message: {
      kind: 'message',
      messageId: 'm',
      role: 'user',
      parts: [
        { kind: 'text', text: 'hello', metadata: null },
        { kind: 'file', file: { bytes: 'AAAA', ...nulls('name', 'mimeType', 'uri') }, metadata: null },
        { kind: 'data', data: { a: null }, metadata: null },
      ],
      ...ofMessage,
    },
    more: {
      configuration: { pushNotificationConfig: pushed, ...nulls('acceptedOutputModes', 'historyLength', 'blocking') },
      metadata: null,
    },
  },
]

describe.each(versions)('null in v$version', ({ send, get, message, more }) => {
  test('is the same as to leave the field out', async () => {
    const { body } = await send(message, more)
    expect(body.error).toBeUndefined()
    const task = body.result.task ?? body.result
    const parts = task.history[0].parts
    expect(parts).toHaveLength(3)
    expect(parts[0]).not.toHaveProperty('metadata')
    expect(parts[2].data).toEqual({ a: null })
    expect((await get({ id: task.id, historyLength: null })).body.error).toBeUndefined()
    expect((await send(message, nulls('configuration', 'metadata'))).body.error).toBeUndefined()
  })

  test.each(['messageId', 'role', 'parts'])('for %s is refused as if it were not there', async (name) => {
    const { [name]: _, ...without } = message as JsonObject
    const [isNull, isOut] = await Promise.all([send({ ...message, [name]: null }), send(without)])
    expect(isNull.body.error).toEqual(isOut.body.error)
    expect(isNull.body.error).toMatchObject({ code: -32602, message: expect.stringContaining(name) })
  })

  test('is no part, no item of a list and no data', async () => {
    const [first] = message.parts
    const kind = 'kind' in first! ? { kind: 'data' } : {}
    for (const flaw of [{ parts: [null] }, { extensions: [null] }, { parts: [{ ...kind, data: null }] }]) {
      expect((await send({ ...message, ...flaw })).body.error, JSON.stringify(flaw)).toMatchObject({ code: -32602 })
    }
    expect((await get({ id: null } as never)).body.error).toMatchObject({ code: -32602 })
  })
})

test('null for all params is the same as no params', async () => {
  expect((await wire.rpc('ListTasks', null)).body.result.tasks).toBeInstanceOf(Array)
  const answers = await Promise.all([wire.rpc('GetTask', null), wire.rpc('tasks/get', null, legacy)])
  for (const { body } of answers) expect(body.error).toMatchObject({ code: -32602 })
})
