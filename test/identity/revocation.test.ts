import { request } from 'node:http'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

const mint = async (gateway: TestGateway, key: string, input: JsonObject = {}) =>
  (await gateway.call('POST', '/v1/agents/donna/keys', input, { key })).body as { keyId: string; apiKey: string }
const revoke = (gateway: TestGateway, keyId: string, query = '', agent?: { key: string }) =>
  gateway.call('DELETE', `/v1/agents/donna/keys/${keyId}${query}`, undefined, agent)
const statusOf = async (gateway: TestGateway, key: string) =>
  (await gateway.call('GET', '/v1/tasks', undefined, { key })).status
const stateOf = async (gateway: TestGateway, id: string) =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}`)).body as JsonObject
const tell = (gateway: TestGateway, subject: string) =>
  gateway.call('POST', '/v1/messages', { to: '@donna', subject, wakePolicy: 'immediate' })
const pushConfigs = async (gateway: TestGateway, donna: TestAgent, taskId: string) => {
  const body = { jsonrpc: '2.0', id: 1, method: 'ListTaskPushNotificationConfigs', params: { taskId } }
  const options = { key: donna.key, headers: { 'A2A-Version': '1.0' } }
  return ((await gateway.call('POST', '/agents/donna', body, options)).body.result.configs ?? []) as JsonObject[]
}

/** Everything that a client with a key of donna's can make. */
async function settleIn(gateway: TestGateway, key: string, url: string) {
  const stolen = { handle: '@donna', key }
  const { id } = await gateway.subscribe(stolen, url, { trigger: 'SENT_TO_ME' })
  const task = await gateway.send('donna', 'note to self', {
    key,
    configuration: { taskPushNotificationConfig: { url: `${url}push`, id: 'left-behind' } },
  })
  const started = await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key })
  expect(started.status).toBe(201)
  return { id, taskId: task.id, sessionId: started.body.sessionId as string }
}

// The attack: a leaked key subscribes, registers a push config, starts a session, and is revoked.
test('the resources of a revoked key end with it, with the reason', async () => {
  await using gateway = await startGateway()
  await using elsewhere = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const leaked = await mint(gateway, donna.key)
  const left = await settleIn(gateway, leaked.apiKey, elsewhere.url)
  const own = await gateway.subscribe(donna, elsewhere.url, { trigger: 'SENT_TO_ME' })
  await gateway.call('PATCH', `/v1/wake-subscriptions/${own.id}`, { status: 'paused' }, donna)
  await elsewhere.waitFor(1)
  expect((await revoke(gateway, leaked.keyId, '', donna)).status).toBe(204)

  expect(await statusOf(gateway, leaked.apiKey)).toBe(401)
  expect(await stateOf(gateway, left.id)).toMatchObject({ status: 'paused', reason: 'key-revoked' })
  expect(await pushConfigs(gateway, donna, left.taskId)).toEqual([])
  expect((await gateway.call('GET', `/v1/sessions/${left.sessionId}`, undefined, donna)).body).toMatchObject({
    status: 'ended',
    reason: 'key-revoked',
  })
  const { events } = (await gateway.call('GET', '/v1/events?limit=1000')).body
  const since = events.slice(events.findLastIndex(({ type }: JsonObject) => type === 'key.created') + 1)
  expect(since.map(({ type, data }: { type: string; data: JsonObject }) => [type, data.reason])).toEqual(
    expect.arrayContaining([
      ['subscription.updated', 'key-revoked'],
      ['push_config.deleted', 'key-revoked'],
      ['peer.left', 'key-revoked'],
      ['key.revoked', 'key-revoked'],
    ]),
  )
  const sent = elsewhere.wakes.length
  await tell(gateway, 'after the revocation')
  await gateway.call('PATCH', `/v1/wake-subscriptions/${own.id}`, { status: 'active' }, donna)
  await elsewhere.waitFor(sent + 1)
  expect(elsewhere.wakes.slice(sent).map(({ body }) => body.subscriptionId)).toEqual([own.id])
})

// The attack: a leaked key lets an accomplice read the mail and move the wakes, and learns the key that signs them.
test('what a revoked key granted ends with it, and the subscription whose signing key it rotated is paused', async () => {
  await using gateway = await startGateway()
  await using elsewhere = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const thief = await gateway.addAgent('thief')
  const mike = await gateway.addAgent('mike')
  const leaked = await mint(gateway, donna.key)
  const stolen = { handle: '@donna', key: leaked.apiKey }
  const grant = (scope: string, by: { key: string }, grantee = '@thief') =>
    gateway.call('POST', '/v1/permissions', { grantee, scope }, by)
  const own = await gateway.subscribe(donna, elsewhere.url, { trigger: 'SENT_TO_ME' })
  expect((await grant('CAN_READ_INBOX_OF', donna, '@mike')).status).toBe(201)
  expect((await grant('CAN_READ_INBOX_OF', stolen)).status).toBe(201)
  expect((await grant('CAN_MANAGE_SUBSCRIPTIONS_OF', stolen)).status).toBe(201)
  const rotation = { rotateSigningKey: true, overlapSeconds: 0 }
  expect((await gateway.call('PATCH', `/v1/wake-subscriptions/${own.id}`, rotation, stolen)).status).toBe(200)
  expect((await revoke(gateway, leaked.keyId, '', donna)).status).toBe(204)

  const read = (agent: TestAgent) => gateway.call('GET', '/v1/inbox?agent=@donna', undefined, agent)
  expect((await read(thief)).status).toBe(403)
  expect((await read(mike)).status).toBe(200)
  const redirect = { harnessTargetMetadata: { url: elsewhere.url } }
  expect((await gateway.call('PATCH', `/v1/wake-subscriptions/${own.id}`, redirect, thief)).status).toBe(404)
  expect(await stateOf(gateway, own.id)).toMatchObject({ status: 'paused', reason: 'key-revoked' })
  const { permissions } = (await gateway.call('GET', '/v1/permissions', undefined, donna)).body
  expect(permissions).toMatchObject([{ grantee: '@mike', scope: 'CAN_READ_INBOX_OF' }])
  const { events } = (await gateway.call('GET', '/v1/events?limit=1000')).body
  const revoked = events.filter(({ type }: JsonObject) => type === 'permission.revoked')
  expect(revoked.map(({ data }: { data: JsonObject }) => data.scope).sort()).toEqual([
    'CAN_MANAGE_SUBSCRIPTIONS_OF',
    'CAN_READ_INBOX_OF',
  ])
})

test('permissions that a key granted stay if its resources are kept, and if it only expires', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  await gateway.addAgent('lola')
  const scopes = async () =>
    (await gateway.call('GET', '/v1/permissions', undefined, donna)).body.permissions.map(
      ({ grantee }: { grantee: string }) => grantee,
    )
  const grantWith = (key: string, grantee: string) =>
    gateway.call('POST', '/v1/permissions', { grantee, scope: 'CAN_READ_INBOX_OF' }, { key })
  const kept = await mint(gateway, donna.key)
  await grantWith(kept.apiKey, '@mike')
  expect((await revoke(gateway, kept.keyId, '?keep=true', donna)).status).toBe(204)
  const brief = await mint(gateway, donna.key, { expiresInSeconds: 60 })
  await grantWith(brief.apiKey, '@lola')
  clock.advance(120_000)
  await until(
    () => statusOf(gateway, brief.apiKey),
    (status) => status === 401,
  )
  expect(await scopes()).toEqual(['@mike', '@lola'])
})

// The attack: requests that are begun before the revocation, and whose bodies arrive after it.
test.each([
  [
    'a subscription',
    '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', harnessTargetMetadata: { url: 'http://127.0.0.1:9/' } },
  ],
  ['a session', '/v1/sessions', { surface: 'codex' }],
  ['a key', '/v1/agents/donna/keys', {}],
])('%s whose request began before a revocation is not made after it', async (_what, path, body) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const leaked = await mint(gateway, donna.key, { scopes: ['read', 'send', 'work', 'manage', 'mint'] })
  const begun = begin(gateway, path, leaked.apiKey, JSON.stringify(body))
  // The gateway has checked the key before it asks for the body.
  await begun.shown
  await revoke(gateway, leaked.keyId, '', donna)
  expect(await begun.finish()).toBe(401)
  const { events } = (await gateway.call('GET', '/v1/events?limit=1000')).body
  expect(events.at(-1)).toMatchObject({ type: 'key.revoked' })
})

// The same, by a writer of another gateway that had not seen the revocation yet.
test('rows that are written during a revocation are found and ended', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const leaked = await mint(gateway, donna.key)
  await revoke(gateway, leaked.keyId)
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  await besideStore(gateway.dataDir, 'update subscription set key_id = ? where id = ?', leaked.keyId, id)
  await until(
    async () => {
      clock.advance(15_000)
      return stateOf(gateway, id)
    },
    ({ reason }) => reason === 'key-revoked',
  )
})

// The attack: a client with a leaked key sets another target for the owner's subscription.
test('a subscription belongs to the key that last set its target', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const leaked = await mint(gateway, donna.key)
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/own', { trigger: 'SENT_TO_ME' })
  const patch = (key: string, body: JsonObject) => gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, body, { key })
  await patch(leaked.apiKey, { filters: { priority: 'high' } })
  const other = await mint(gateway, donna.key)
  await patch(other.apiKey, { harnessTargetMetadata: { url: 'http://127.0.0.1:9/elsewhere' } })
  await revoke(gateway, leaked.keyId)
  expect(await stateOf(gateway, id)).toMatchObject({ status: 'active' })
  await revoke(gateway, other.keyId)
  expect(await stateOf(gateway, id)).toMatchObject({ status: 'paused', reason: 'key-revoked' })
  const again = { harnessTargetMetadata: { url: 'http://127.0.0.1:9/own' }, status: 'active' }
  expect((await patch(donna.key, again)).body.currentState).toMatchObject({ status: 'active', reason: null })
})

// The attack: the leaked key has made others, which made others, before it is revoked.
test('a revocation with minted also revokes the keys that the key made, and those that they made', async () => {
  await using gateway = await startGateway()
  await using elsewhere = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const withMint = { scopes: ['read', 'send', 'work', 'manage', 'mint'] }
  const leaked = await mint(gateway, donna.key, withMint)
  const child = await mint(gateway, leaked.apiKey, withMint)
  const grandchild = await mint(gateway, child.apiKey, withMint)
  const left = await settleIn(gateway, grandchild.apiKey, elsewhere.url)
  await revoke(gateway, child.keyId)
  expect(await statusOf(gateway, grandchild.apiKey)).toBe(200)
  expect((await revoke(gateway, leaked.keyId, '?minted=true', donna)).status).toBe(204)
  for (const { apiKey } of [leaked, child, grandchild]) expect(await statusOf(gateway, apiKey)).toBe(401)
  expect(await statusOf(gateway, donna.key)).toBe(200)
  expect(await stateOf(gateway, left.id)).toMatchObject({ status: 'paused', reason: 'key-revoked' })
  expect(await pushConfigs(gateway, donna, left.taskId)).toEqual([])
})

test('keys that a key made can be revoked with it after its own revocation', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const leaked = await mint(gateway, donna.key, { scopes: ['read', 'mint'] })
  const child = await mint(gateway, leaked.apiKey, { scopes: ['read'] })
  expect((await revoke(gateway, leaked.keyId)).status).toBe(204)
  expect(await statusOf(gateway, child.apiKey)).toBe(200)
  expect((await revoke(gateway, leaked.keyId)).status).toBe(404)
  expect((await revoke(gateway, leaked.keyId, '?minted=true')).status).toBe(204)
  expect(await statusOf(gateway, child.apiKey)).toBe(401)
  expect((await revoke(gateway, leaked.keyId, '?minted=true')).status).toBe(404)
})

test('with keep the resources of a revoked key move to the key that revokes it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const [{ keyId: first }] = (await gateway.call('GET', '/v1/agents/donna/keys')).body.keys
  const left = await settleIn(gateway, donna.key, 'http://127.0.0.1:9/')
  const next = await mint(gateway, gateway.adminKey)
  const renewed = { handle: '@donna', key: next.apiKey }
  expect((await revoke(gateway, first, '?keep=true', { key: donna.key })).body).toMatchObject({
    status: 400,
    field: 'keep',
  })
  expect((await revoke(gateway, first, '?keep=true', renewed)).status).toBe(204)
  expect(await statusOf(gateway, donna.key)).toBe(401)
  expect((await stateOf(gateway, left.id)).reason).not.toBe('key-revoked')
  expect(await pushConfigs(gateway, renewed, left.taskId)).toMatchObject([{ id: 'left-behind' }])
  const session = () => gateway.call('GET', `/v1/sessions/${left.sessionId}`, undefined, renewed)
  expect((await session()).body.status).toBe('live')
  await revoke(gateway, next.keyId)
  expect(await stateOf(gateway, left.id)).toMatchObject({ status: 'paused', reason: 'key-revoked' })
})

test('the resources of an expired key end as after a revocation', async () => {
  const clock = new FakeClock()
  const { log, of } = logLines()
  await using gateway = await startGateway({ overrides: { clock, log } })
  const donna = await gateway.addAgent('donna')
  const brief = await mint(gateway, donna.key, { expiresInSeconds: 60 })
  const left = await settleIn(gateway, brief.apiKey, 'http://127.0.0.1:9/')
  clock.advance(60_000)
  await until(
    async () => {
      clock.advance(15_000)
      return stateOf(gateway, left.id)
    },
    ({ reason }) => reason === 'key-expired',
  )
  const ended = await until(
    () => of('key.expired'),
    (lines) => lines.length > 0,
  )
  expect(ended).toMatchObject([{ level: 'info', agent: '@donna', keyId: brief.keyId }])
  expect(await pushConfigs(gateway, donna, left.taskId)).toEqual([])
  const { keys } = (await gateway.call('GET', '/v1/agents/donna/keys')).body
  expect(keys).toContainEqual(expect.objectContaining({ keyId: brief.keyId, revokedAt: expect.any(String) }))
})

test('nothing continues after an agent is removed: no push config, and no subscription whose target it set', async () => {
  await using gateway = await startGateway()
  const [donna, mike] = [await gateway.addAgent('donna'), await gateway.addAgent('mike')]
  await gateway.send('donna', 'hello', {
    key: mike.key,
    configuration: { taskPushNotificationConfig: { url: 'http://127.0.0.1:9/push', id: 'of-mike' } },
  })
  const manage = { grantee: '@mike', scope: 'CAN_MANAGE_SUBSCRIPTIONS_OF' }
  await gateway.call('POST', '/v1/permissions', manage, donna)
  const made = await gateway.call(
    'POST',
    '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', agentIdentity: '@donna', harnessTargetMetadata: { url: 'http://127.0.0.1:9/of-mike' } },
    mike,
  )
  expect(await besideStore(gateway.dataDir, "select id from subscription where kind = 'push'")).toHaveLength(1)
  await gateway.call('DELETE', '/v1/agents/mike')
  expect(await stateOf(gateway, made.body.subscriptionId)).toMatchObject({ status: 'paused', reason: 'grant-revoked' })
  expect(await besideStore(gateway.dataDir, "select id from subscription where kind = 'push'")).toEqual([])
})

/** A request whose headers are sent, and whose body waits. */
function begin(gateway: TestGateway, path: string, key: string, body: string) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    expect: '100-continue',
  }
  const sent = request(gateway.url + path, { method: 'POST', headers })
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    sent.on('error', reject)
  })
  const shown = new Promise<void>((resolve) => sent.on('continue', resolve))
  sent.flushHeaders()
  return {
    shown,
    finish() {
      sent.end(body)
      return status
    },
  }
}
