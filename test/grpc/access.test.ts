import { SendMessageRequest } from '@a2a-js/sdk'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sending } from '../a2a/wire.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { bearer, type Refusal, rawClient } from './raw-client.ts'

let gateway: TestGateway
let client: ReturnType<typeof rawClient>
let legacy: ReturnType<typeof rawClient>
let lucy: TestAgent
let stranger: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  await gateway.call('POST', '/v1/projects', { project: 'elsewhere' })
  stranger = await gateway.addAgent('stranger', { project: 'elsewhere' })
  client = rawClient(gateway.grpcTarget)
  legacy = rawClient(gateway.grpcTarget, '0.3')
  await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
  await gateway.addAgent('shy', { access: 'private' })
  await gateway.addAgent('open', { access: 'public' })
})

afterAll(async () => {
  client[Symbol.dispose]()
  legacy[Symbol.dispose]()
  await gateway[Symbol.asyncDispose]()
})

function messageTo(tenant: string, text = 'hello'): SendMessageRequest {
  return SendMessageRequest.fromJSON({ tenant, ...sending({ parts: [{ text }] }) })
}

function send(tenant: string, sent: Record<string, string>) {
  return client.unary('sendMessage', messageTo(tenant), sent)
}

describe('without a key', () => {
  test.each<[string, Record<string, string>]>([
    ['none', {}],
    ['a wrong one', bearer('rk_wrong')],
    ['another scheme', { authorization: 'Basic cms6' }],
  ])('every call is refused with its reason (%s)', async (_, sent) => {
    const refusal = { code: status.UNAUTHENTICATED, reason: 'UNAUTHENTICATED', details: expect.stringMatching(/key/) }
    expect(await send('agents/donna', sent)).toMatchObject(refusal)
    expect(await client.unary('getTask', { tenant: '', id: 'a' }, sent)).toMatchObject(refusal)
    expect(await legacy.unary('getTask', { name: 'tasks/a', historyLength: 0 }, sent)).toMatchObject(refusal)
  })

  test('nothing is read: neither the agent nor the size of the message is checked', async () => {
    expect(await send('agents/nobody', {})).toMatchObject({ code: status.UNAUTHENTICATED })
    const large = messageTo('agents/donna', 'x'.repeat(20_000_000))
    expect(await client.unary('sendMessage', large, {})).toMatchObject({ code: status.UNAUTHENTICATED })
  })

  test('a stream is refused too', async () => {
    const stream = client.stream('subscribeToTask', { tenant: 'agents/donna', id: 'a' }, {})
    await expect(stream.toArray()).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
  })
})

describe('the tenant', () => {
  test('is required, and named where it is missing', async () => {
    const refusal = await send('', bearer(lucy.key))
    expect(refusal).toMatchObject({ code: status.INVALID_ARGUMENT, reason: 'INVALID_REQUEST' })
    expect((refusal as Refusal).info).toEqual({ code: 'invalid-request', field: 'tenant' })
  })

  test.each(['agents/nobody', 'nobody', 'projects/nowhere/agents/donna', 'projects/elsewhere/agents/donna'])(
    '%s is not found',
    async (tenant) => {
      expect(await send(tenant, bearer(lucy.key))).toMatchObject({ code: status.NOT_FOUND })
    },
  )

  test('may come as metadata, as in v0.3, whose messages have no field for it', async () => {
    const named = bearer(lucy.key, { 'a2a-tenant': 'agents/donna' })
    expect(await send('', named)).toMatchObject({ value: { payload: { $case: 'task' } } })
    const request = {
      request: { ...plain, messageId: crypto.randomUUID(), role: 1, content: [textPart('hello')] },
      configuration: { acceptedOutputModes: [], historyLength: 0, blocking: false },
    }
    expect(await legacy.unary('sendMessage', request, named)).toMatchObject({ value: { payload: { $case: 'task' } } })
    const unnamed = await legacy.unary('sendMessage', request, bearer(lucy.key))
    expect(unnamed).toMatchObject({ code: status.INVALID_ARGUMENT, details: expect.stringContaining('"a2a-tenant"') })
  })

  test('of the message counts before that of the metadata', async () => {
    const answer = await send('agents/donna', bearer(lucy.key, { 'a2a-tenant': 'agents/nobody' }))
    expect(answer).toMatchObject({ value: { payload: { $case: 'task' } } })
  })
})

describe('another project', () => {
  test('does not learn of a private agent', async () => {
    const [hidden, absent] = [
      await send('agents/shy', bearer(stranger.key)),
      await send('agents/nix', bearer(stranger.key)),
    ]
    expect(hidden).toMatchObject({ code: status.NOT_FOUND, reason: 'AGENT_NOT_FOUND' })
    expect(JSON.parse(JSON.stringify(hidden).replaceAll('shy', 'nix'))).toEqual(absent)
    expect(await send('agents/shy', bearer(lucy.key))).toMatchObject({ value: {} })
  })

  test('may not send to an agent with access `project`, and may to a public one', async () => {
    const refused = await send('agents/donna', bearer(stranger.key))
    expect(refused).toMatchObject({ code: status.PERMISSION_DENIED, reason: 'FORBIDDEN' })
    expect(await send('agents/open', bearer(stranger.key))).toMatchObject({ value: { payload: { $case: 'task' } } })
  })

  test('has tenants of its own', async () => {
    const tenant = 'projects/elsewhere/agents/stranger'
    expect(await send(tenant, bearer(stranger.key))).toMatchObject({ value: { payload: { $case: 'task' } } })
    expect(await send(tenant, bearer(lucy.key))).toMatchObject({ code: status.PERMISSION_DENIED })
  })
})

const plain = { contextId: '', taskId: '', extensions: [] }

function textPart(value: string) {
  return { part: { $case: 'text', value } }
}

test('an error that would echo 100 KB is answered, cut', async () => {
  const long = 'a'.repeat(100_000)
  const refused = (await send(`agents/${long}`, bearer(lucy.key))) as Refusal
  expect([refused.code, refused.details.length < 1_010]).toEqual([status.NOT_FOUND, true])
  const request = messageTo('agents/donna')
  const message = { ...request.message!, taskId: long, referenceTaskIds: [long] }
  const unknown = (await client.unary('sendMessage', { ...request, message }, bearer(lucy.key))) as Refusal
  expect([unknown.code, unknown.details.length < 1_010]).toEqual([status.INVALID_ARGUMENT, true])
})
