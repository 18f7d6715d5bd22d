import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: JsonObject
  /** Default: the admin key. */
  readonly by?: Pick<TestAgent, 'key'>
}

/** One call with the key `once`, or another. */
function ask(gateway: TestGateway, { method, path, body, by }: Asked, key = 'once') {
  return gateway.call(method, path, body, { ...by, headers: { 'Idempotency-Key': key } })
}

const isReplayed = ({ headers }: { readonly headers: Headers }) => headers.get('idempotency-replayed') === 'true'

// D36
test('a repeated rotation gets the key of the first one, and rotates nothing', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  const path = `/v1/wake-subscriptions/${id}`
  const rotation = { method: 'PATCH', path, body: { rotateSigningKey: true, overlapSeconds: 60 }, by: donna }
  const first = await ask(gateway, rotation)
  const again = await ask(gateway, rotation)
  expect([first.status, isReplayed(first), again.status, isReplayed(again)]).toEqual([200, false, 200, true])
  expect(first.body.signingKey).toMatch(/^whsec_/)
  expect(again.body).toEqual(first.body)
  expect((await ask(gateway, rotation, 'another')).body.signingKey).not.toBe(first.body.signingKey)
})

test('a repeat has the status, the headers and the body of the first answer, and the store no readable secret of it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const made = { method: 'POST', path: '/v1/agents/donna/keys', body: { scopes: ['read'] }, by: donna }
  const first = await ask(gateway, made)
  const again = await ask(gateway, made)
  expect([again.status, again.body, isReplayed(again)]).toEqual([201, first.body, true])
  expect(again.headers.get('location')).toBe(first.headers.get('location'))
  const { keys } = (await gateway.call('GET', made.path, undefined, donna)).body
  expect(keys).toHaveLength(2)
  const [row] = await besideStore(gateway.dataDir, 'select result_id as "kept" from idempotency_key')
  expect(row?.kept).not.toContain(first.body.apiKey)

  const gone = { method: 'DELETE', path: `/v1/agents/donna/keys/${first.body.keyId}`, by: donna }
  expect([(await ask(gateway, gone, 'gone')).status, (await ask(gateway, gone, 'gone')).status]).toEqual([204, 204])
})

test('ten requests with one key at the same time make one thing and get one answer', async () => {
  await using gateway = await startGateway()
  const made = { method: 'POST', path: '/v1/agents', body: { handle: 'donna' } }
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(gateway, made)))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201))
  expect(new Set(answers.map(({ body }) => body.apiKey)).size).toBe(1)
  expect(answers.filter(isReplayed)).toHaveLength(9)
})

test('another request with the key is a conflict: another body, path, version or project', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const change = { method: 'PATCH', path: '/v1/agents/donna', body: { description: 'a' } }
  expect((await ask(gateway, change)).status).toBe(200)
  const others = [
    { ...change, body: { description: 'b' } },
    { ...change, path: '/v1/projects/web', body: { limits: {} } },
    { ...change, method: 'DELETE' },
  ]
  for (const other of others) expect((await ask(gateway, other)).body.code).toBe('idempotency-conflict')
  const elsewhere = { 'Idempotency-Key': 'once', 'Rouse-Project': 'web' }
  const { body } = await gateway.call('PATCH', change.path, change.body, { headers: elsewhere })
  expect(body.code).toBe('idempotency-conflict')
  expect((await ask(gateway, { ...change, by: donna })).status).toBe(200)
})

test('a refused request leaves its key free, and a key that is too long is refused', async () => {
  await using gateway = await startGateway()
  const change = { method: 'PATCH', path: '/v1/agents/donna', body: { description: 'a' } }
  expect((await ask(gateway, change)).status).toBe(404)
  await gateway.addAgent('donna')
  const made = await ask(gateway, change)
  expect([made.status, isReplayed(made)]).toEqual([200, false])
  expect((await ask(gateway, change, 'x'.repeat(501))).body).toMatchObject({ status: 400, field: 'Idempotency-Key' })
})

test('a request that began and has no answer is not carried out again', async () => {
  await using gateway = await startGateway()
  const made = { method: 'POST', path: '/v1/agents', body: { handle: 'donna' } }
  await ask(gateway, made)
  await besideStore(gateway.dataDir, `update idempotency_key set result_id = ''`)
  const { body } = await ask(gateway, made)
  expect(body).toMatchObject({ status: 409, code: 'idempotency-begun', field: 'Idempotency-Key' })
  expect(body.detail).toContain('has begun and has no answer yet')
  // Sealed with another key.
  await besideStore(gateway.dataDir, `update idempotency_key set result_id = '00000000.a.b'`)
  expect((await ask(gateway, made)).body.detail).toContain('only the API key or token that made it opens its answer')
})

test('an answer above 64 KiB is not kept: a repeat is told to look', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'x'.repeat(70_000))
  const move = { method: 'POST', path: `/v1/tasks/${id}/transitions`, body: { to: 'working', expectedVersion: 1 } }
  expect((await ask(gateway, { ...move, by: donna })).status).toBe(200)
  expect((await ask(gateway, { ...move, by: donna })).body).toMatchObject({
    code: 'idempotency-begun',
    detail: expect.stringContaining('too large to be kept'),
  })
})

test('a repeated start of a session is the first session, without the mail that came with it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'a' })
  const start = { method: 'POST', path: '/v1/sessions', body: { surface: 'claude-code' }, by: donna }
  const first = await ask(gateway, start)
  const again = await ask(gateway, start)
  expect(again.body.sessionId).toBe(first.body.sessionId)
  expect([first.body.pendingSignals.length, again.body.pendingSignals]).toEqual([1, []])
})

test('operators have keys of their own, and what is read or only reported needs none', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { body } = await gateway.call('POST', '/v1/operator-keys', { label: 'b', role: 'admin' })
  const made = { method: 'POST', path: '/v1/agents/donna/keys', body: { scopes: ['read'] } }
  const [one, other] = [await ask(gateway, made), await ask(gateway, { ...made, by: { key: body.operatorKey } })]
  expect([one.status, other.status]).toEqual([201, 201])
  expect(one.body.apiKey).not.toBe(other.body.apiKey)
  const report = { method: 'PUT', path: '/v1/presence', body: { state: 'idle' }, by: donna }
  for (const asked of [report, report, { method: 'GET', path: '/v1/agents' }]) {
    const answer = await ask(gateway, asked, 'report')
    expect(isReplayed(answer)).toBe(false)
  }
})
