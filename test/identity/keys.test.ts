import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const minuteMs = 60_000

async function mint(gateway: TestGateway, key: string, input: JsonObject = {}) {
  return gateway.call('POST', '/v1/agents/donna/keys', input, { key })
}
const list = async (gateway: TestGateway) => (await gateway.call('GET', '/v1/agents/donna/keys')).body.keys
const worksWith = async (gateway: TestGateway, key: string) =>
  (await gateway.call('GET', '/v1/tasks', undefined, { key })).status === 200

test('the first key has every scope, an operator’s key too, and one that a key made all but mint', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const own = (await mint(gateway, donna.key, { label: 'laptop' })).body
  expect(own).toMatchObject({ keyId: expect.any(String), apiKey: expect.stringMatching(/^rk_/), expiresAt: null })
  expect((await mint(gateway, gateway.adminKey, { label: 'given' })).status).toBe(201)
  const every = ['read', 'send', 'work', 'manage', 'mint']
  const byLabel = new Map((await list(gateway)).map((key: JsonObject) => [key.label, key])) as Map<string, JsonObject>
  const [first, laptop, given] = ['first', 'laptop', 'given'].map((label) => byLabel.get(label)!)
  expect(first).toMatchObject({ scopes: every, createdBy: '@operator', createdByKey: 'admin', expiresAt: null })
  expect(laptop).toMatchObject({ scopes: every.slice(0, 4), createdBy: '@donna' })
  expect(given).toMatchObject({ scopes: every, createdBy: '@operator' })
  expect(laptop!.createdByKey).toBe(first!.keyId)
})

test('no key makes one that may do more than itself, lives longer than itself, or makes keys without mint', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const narrow = await mint(gateway, donna.key, { scopes: ['mint', 'read'], expiresInSeconds: 3600 })
  expect(narrow.body).toMatchObject({ scopes: ['read', 'mint'], expiresAt: expect.any(String) })
  const { apiKey: key, expiresAt } = narrow.body
  expect((await mint(gateway, key, { scopes: ['read', 'send'] })).body).toMatchObject({
    status: 403,
    field: 'scopes',
    detail: expect.stringContaining('send'),
  })
  expect((await mint(gateway, key, { expiresInSeconds: 7200 })).body).toMatchObject({ status: 403, field: 'expiresAt' })
  expect((await mint(gateway, key)).body).toMatchObject({ scopes: ['read'], expiresAt })
  const child = (await mint(gateway, key, { scopes: ['read'], expiresInSeconds: 60 })).body
  expect((await mint(gateway, child.apiKey)).body).toMatchObject({
    status: 403,
    detail: expect.stringContaining('mint'),
  })
})

test.each([
  [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
  [{ expiresAt: 'tomorrow' }, 'expiresAt'],
  [{ expiresAt: '9999-01-01T00:00:00Z' }, 'expiresAt'],
  [{ expiresInSeconds: 0 }, 'expiresInSeconds'],
  [{ expiresInSeconds: 1e300 }, 'expiresInSeconds'],
  [{ expiresInSeconds: 60, expiresAt: '2090-01-01T00:00:00Z' }, 'expiresInSeconds'],
  [{ scopes: [] }, 'scopes'],
  [{ scopes: ['admin'] }, 'scopes[0]'],
  [{ scopes: ['__proto__'] }, 'scopes[0]'],
])('a request for a key with %j is refused, naming %s', async (input, field) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  expect((await mint(gateway, donna.key, input)).body).toMatchObject({ status: 400, field })
  expect(await list(gateway)).toHaveLength(1)
})

test('an expired key is refused as an unknown one is, from the instant of its end', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const { apiKey } = (await mint(gateway, donna.key, { expiresInSeconds: 60 })).body
  clock.advance(minuteMs - 1)
  expect(await worksWith(gateway, apiKey)).toBe(true)
  clock.advance(1)
  const refused = await gateway.call('GET', '/v1/tasks', undefined, { key: apiKey })
  const unknown = await gateway.call('GET', '/v1/tasks', undefined, { key: 'rk_unknown' })
  expect(refused.status).toBe(401)
  expect(refused.body).toEqual(unknown.body)
  expect(await worksWith(gateway, donna.key)).toBe(true)
})

test('the last use of a key is exact to the minute, also for operators, and costs no write in a request', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const { operatorKey } = (await gateway.call('POST', '/v1/operator-keys', { role: 'viewer' })).body
  expect((await list(gateway))[0].lastUsedAt).toBeNull()
  const usedAt = () => until<string>(async () => (await list(gateway))[0].lastUsedAt, Boolean)
  await worksWith(gateway, donna.key)
  await worksWith(gateway, operatorKey)
  clock.advance(1_000)
  const first = await usedAt()
  await worksWith(gateway, donna.key)
  clock.advance(minuteMs)
  expect(await usedAt()).toBe(first)
  await worksWith(gateway, donna.key)
  clock.advance(1_000)
  await until(usedAt, (at) => Date.parse(at) > Date.parse(first))
  const [operatorKeys] = (await gateway.call('GET', '/v1/operator-keys')).body.keys
  expect(operatorKeys.lastUsedAt).toBe(first)
})

test('a key revokes itself without mint, and no other', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const [first] = await list(gateway)
  const { apiKey, keyId } = (await mint(gateway, donna.key)).body
  const revoke = (id: string) => gateway.call('DELETE', `/v1/agents/donna/keys/${id}`, undefined, { key: apiKey })
  expect((await revoke(first.keyId)).body).toMatchObject({ status: 403, detail: expect.stringContaining('mint') })
  expect((await gateway.call('DELETE', `/v1/agents/donna/keys/${keyId}?minted=maybe`)).body).toMatchObject({
    status: 400,
    field: 'minted',
  })
  expect((await revoke(keyId)).status).toBe(204)
  expect(await worksWith(gateway, apiKey)).toBe(false)
  expect(await worksWith(gateway, donna.key)).toBe(true)
})
