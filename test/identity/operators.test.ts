import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

async function startWithRed() {
  const gateway = await startGateway()
  await gateway.call('POST', '/v1/projects', { project: 'red' })
  const [bob, zoe] = [
    await gateway.addAgent('bob'),
    await gateway.addAgent('zoe', { project: 'red', access: 'public' }),
  ]
  return { gateway, bob, zoe }
}
const addOperator = async (gateway: TestGateway, input: JsonObject, key?: string) =>
  (await gateway.call('POST', '/v1/operator-keys', input, key === undefined ? {} : { key })).body
const as = (gateway: TestGateway, key: string) => (method: string, path: string, body?: object, project?: string) =>
  gateway.call(method, path, body, { key, ...(project === undefined ? {} : { headers: { 'Rouse-Project': project } }) })

test('an operator key is shown once, stored as a hash, listed without the key, and refused after its revocation', async () => {
  const { gateway } = await startWithRed()
  await using _closing = gateway
  const made = await addOperator(gateway, { role: 'admin', label: 'second', expiresInSeconds: 3600 })
  expect(made).toMatchObject({ operatorKey: expect.stringMatching(/^rko_[\w-]{43}$/), role: 'admin' })
  const act = as(gateway, made.operatorKey)
  expect((await act('POST', '/v1/projects', { project: 'blue' })).status).toBe(201)
  const { keys } = (await act('GET', '/v1/operator-keys')).body
  expect(keys).toMatchObject([
    { keyId: made.keyId, label: 'second', role: 'admin', projects: null, createdByKey: 'admin', revokedAt: null },
  ])
  expect(JSON.stringify(keys)).not.toContain(made.operatorKey.slice(4))
  expect((await gateway.call('DELETE', `/v1/operator-keys/${made.keyId}`)).status).toBe(204)
  expect((await act('GET', '/v1/operator-keys')).status).toBe(401)
  expect((await gateway.call('DELETE', `/v1/operator-keys/${made.keyId}`)).body.code).toBe('key-not-found')
})

test('a manager has only its projects, in every call', async () => {
  const { gateway, bob, zoe } = await startWithRed()
  await using _closing = gateway
  const { operatorKey } = await addOperator(gateway, { role: 'manager', projects: ['red'] })
  const act = as(gateway, operatorKey)
  expect((await act('GET', '/v1/agents')).body.agents).toMatchObject([{ handle: '@zoe' }])
  expect((await act('POST', '/v1/agents', { handle: 'yan' })).body.agent).toMatchObject({ project: 'red' })
  expect((await act('GET', '/v1/projects')).body.projects).toMatchObject([{ project: 'red' }])
  const there = { status: 403, field: 'Rouse-Project' }
  expect((await act('GET', '/v1/agents', undefined, 'default')).body).toMatchObject(there)
  expect((await act('GET', '/v1/agents', undefined, 'nowhere')).body).toMatchObject(there)
  expect((await act('POST', '/v1/agents', { handle: 'x', project: 'default' })).body).toMatchObject({ status: 403 })
  expect((await act('POST', '/v1/projects', { project: 'mine' })).status).toBe(403)
  expect((await act('GET', '/v1/operator-keys')).status).toBe(403)
  expect((await act('POST', '/v1/operator-keys', { role: 'viewer' })).status).toBe(403)
  expect((await act('POST', '/v1/messages', { to: 'default:bob', subject: 'Hi' })).status).toBe(403)
  expect((await act('POST', '/v1/messages', { to: '@zoe', subject: 'Hi' })).status).toBe(201)

  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
  const send = rpc('SendMessage', {
    message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hi' }] },
    configuration: { returnImmediately: true },
  })
  const a2a = (path: string) =>
    gateway.call('POST', path, send, { key: operatorKey, headers: { 'A2A-Version': '1.0' } })
  expect((await a2a('/projects/red/agents/zoe')).body.result.task).toBeDefined()
  expect((await a2a('/agents/bob')).body.error).toBeDefined()
  await gateway.call('PATCH', '/v1/agents/bob', { access: 'public' })
  expect((await a2a('/agents/bob')).body.error).toBeDefined()

  // The admin's mail to bob is from `@operator` too, but the manager must not see it.
  const task = await gateway.send('bob', 'secret')
  expect((await act('GET', `/v1/tasks/${task.id}`)).status).toBe(404)
  const mail = (await gateway.call('POST', '/v1/messages', { to: '@bob', subject: 'secret' })).body
  expect((await act('GET', `/v1/messages/${mail.messageId}`)).status).toBe(404)
  expect((await gateway.call('GET', `/v1/messages/${mail.messageId}`)).status).toBe(200)
  expect([bob.handle, zoe.handle]).toEqual(['@bob', '@zoe'])
})

test('a revocation with minted also revokes the keys that the operator made, for operators and agents', async () => {
  const { gateway, bob } = await startWithRed()
  await using _closing = gateway
  const first = await addOperator(gateway, { role: 'admin' })
  const second = await addOperator(gateway, { role: 'admin' }, first.operatorKey)
  const given = (await as(gateway, second.operatorKey)('POST', '/v1/agents/bob/keys', {})).body
  const status = async (key: string) => (await as(gateway, key)('GET', '/v1/agents')).status
  expect(await status(given.apiKey)).toBe(200)
  await gateway.call('DELETE', `/v1/operator-keys/${first.keyId}?minted=true`)
  for (const key of [first.operatorKey, second.operatorKey, given.apiKey]) expect(await status(key)).toBe(401)
  expect(await status(bob.key)).toBe(200)
  expect(await status(gateway.adminKey)).toBe(200)
})

test('what an operator key made can be revoked after the key itself', async () => {
  const { gateway } = await startWithRed()
  await using _closing = gateway
  const first = await addOperator(gateway, { role: 'admin' })
  const second = await addOperator(gateway, { role: 'admin' }, first.operatorKey)
  const given = (await as(gateway, second.operatorKey)('POST', '/v1/agents/bob/keys', {})).body
  const status = async (key: string) => (await as(gateway, key)('GET', '/v1/agents')).status
  const revoke = async (keyId: string, query = '') =>
    (await gateway.call('DELETE', `/v1/operator-keys/${keyId}${query}`)).status
  expect([await revoke(first.keyId), await revoke(second.keyId)]).toEqual([204, 204])
  expect(await status(given.apiKey)).toBe(200)
  expect(await revoke(first.keyId)).toBe(404)
  // The key between them was revoked too.
  expect(await revoke(first.keyId, '?minted=true')).toBe(204)
  expect(await status(given.apiKey)).toBe(401)
  expect(await revoke(first.keyId, '?minted=true')).toBe(404)
})

test('an operator key ends at its end, and makes none that outlives it', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await gateway.addAgent('bob')
  const { operatorKey } = await addOperator(gateway, { role: 'admin', expiresInSeconds: 60 })
  const act = as(gateway, operatorKey)
  const longer = { role: 'viewer', expiresInSeconds: 61 }
  expect((await act('POST', '/v1/operator-keys', longer)).body).toMatchObject({ status: 403, field: 'expiresAt' })
  const { apiKey } = (await act('POST', '/v1/agents/bob/keys', {})).body
  const registered = (await act('POST', '/v1/agents', { handle: 'eve' })).body
  clock.advance(60_000)
  for (const key of [operatorKey, apiKey, registered.apiKey]) {
    expect((await as(gateway, key)('GET', '/v1/agents')).status).toBe(401)
  }
})

test.each([
  [{ role: 'owner' }, 'role'],
  [{}, 'role'],
  [{ role: 'manager', projects: [] }, 'projects'],
  [{ role: 'admin', projects: ['default'] }, 'projects'],
  [{ role: 'manager', projects: ['no project'] }, 'projects'],
  [{ role: 'manager', scopes: ['read'] }, 'scopes'],
])('a request for an operator key with %j is refused, naming %s', async (input, field) => {
  await using gateway = await startGateway()
  expect(await addOperator(gateway, input as JsonObject)).toMatchObject({ status: 400, field })
  const missing = { role: 'manager', projects: ['nowhere'] }
  expect(await addOperator(gateway, missing)).toMatchObject({ code: 'project-not-found' })
})
