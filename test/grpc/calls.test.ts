import { SendMessageRequest } from '@a2a-js/sdk'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { sending } from '../a2a/wire.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { bearer, rawClient } from './raw-client.ts'

const tenant = 'agents/donna'
let gateway: TestGateway
let client: ReturnType<typeof rawClient>
let legacy: ReturnType<typeof rawClient>
let lucy: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  client = rawClient(gateway.grpcTarget)
  legacy = rawClient(gateway.grpcTarget, '0.3')
  await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
})

afterAll(async () => {
  client[Symbol.dispose]()
  legacy[Symbol.dispose]()
  await gateway[Symbol.asyncDispose]()
})

function send(message: JsonObject, sent: Record<string, string> = {}) {
  return client.unary(
    'sendMessage',
    SendMessageRequest.fromJSON({ tenant, ...sending(message) }),
    bearer(lucy.key, sent),
  )
}

const taskOf = (result: object) => (result as { value: { payload: { value: { id: string } } } }).value.payload.value

test.each(['', '1.0', '1.0.3'])(
  'the service determines the version; a matching A2A-Version is accepted (%j)',
  async (version) => {
    const { id } = taskOf(await send({}, version ? { 'a2a-version': version } : {}))
    const request = { tenant, taskId: id, id: '', url: 'http://127.0.0.1:9/', token: '', authentication: undefined }
    const made = await client.unary('createTaskPushNotificationConfig', request, bearer(lucy.key))
    expect(made).toMatchObject({ value: { taskId: id } })
  },
)

test('one that does not agree is refused, with the service that speaks it', async () => {
  const refusal = { code: status.FAILED_PRECONDITION, reason: 'VERSION_NOT_SUPPORTED' }
  for (const version of ['0.3', '2.0', 'new']) {
    const refused = await send({}, { 'a2a-version': version })
    expect(refused).toMatchObject({ ...refusal, details: expect.stringMatching(/v0\.3 is a2a\.v1\.A2AService/) })
  }
  const sent = bearer(lucy.key, { 'a2a-tenant': tenant, 'a2a-version': '1.0' })
  expect(await legacy.unary('getTask', { name: 'tasks/a', historyLength: 0 }, sent)).toMatchObject(refusal)
})

test('an idempotency key answers a repeat with the first task, on any binding', async () => {
  const params = sending({ parts: [{ text: 'once' }, { raw: 'AAH+/w==' }], metadata: { trace: 'x' } })
  const headers = { 'A2A-Version': '1.0', 'Idempotency-Key': 'once' }
  const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
  const { body } = await gateway.call('POST', '/agents/donna', rpc, { key: lucy.key, headers })
  const request = SendMessageRequest.fromJSON({ tenant, ...params })
  const sent = bearer(lucy.key, { 'idempotency-key': 'once' })
  const repeats = await Promise.all([1, 2].map(() => client.unary('sendMessage', request, sent)))
  expect(repeats.map((result) => taskOf(result).id)).toEqual([body.result.task.id, body.result.task.id])
  const refused = await send({}, { 'idempotency-key': 'x'.repeat(501) })
  expect(refused).toMatchObject({ code: status.INVALID_ARGUMENT, info: { field: 'Idempotency-Key' } })
})

test('an invalid field is named, and a missing task is one of the specification’s errors', async () => {
  const empty = await send({ parts: [] })
  expect(empty).toMatchObject({ code: status.INVALID_ARGUMENT, info: { field: 'message.parts' } })
  const absent = await client.unary('getTask', { tenant, id: 'nope' }, bearer(lucy.key))
  expect(absent).toMatchObject({ code: status.NOT_FOUND, reason: 'TASK_NOT_FOUND' })
  const sent = bearer(lucy.key, { 'a2a-tenant': tenant })
  const shapeless = await legacy.unary('getTask', { name: 'nope', historyLength: 0 }, sent)
  expect(shapeless).toMatchObject({ code: status.INVALID_ARGUMENT })
})

test('a message of 1 MiB is accepted, as over HTTP, and a larger one is refused', async () => {
  const sendBytes = (bytes: number) => {
    const message = sending({ parts: [{ raw: Buffer.alloc(bytes, 1).toString('base64') }] }, { historyLength: 0 })
    return client.unary('sendMessage', SendMessageRequest.fromJSON({ tenant, ...message }), bearer(lucy.key))
  }
  expect(taskOf(await sendBytes(1000 * 1024)).id).toBeTruthy()
  expect(await sendBytes(1025 * 1024)).toMatchObject({ code: status.RESOURCE_EXHAUSTED })
})

test('unknown extensions are ignored', async () => {
  expect(taskOf(await send({}, { 'a2a-extensions': 'urn:nobody:knows' })).id).toBeTruthy()
})
