import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore, onPostgres } from '../support/store.ts'
import { until } from '../support/until.ts'

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

test('another key of the agent gets no answer that was for the first one, and does nothing twice', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const keyWith = async (...scopes: string[]) => {
    const { body } = await gateway.call('POST', '/v1/agents/donna/keys', { scopes }, donna)
    return { key: body.apiKey as string }
  }
  const rotated = await keyWith('read', 'send', 'work', 'manage', 'mint')
  const weak = await keyWith('mint', 'send')
  const acts: Asked[] = [
    { method: 'POST', path: '/v1/agents/donna/keys', body: { scopes: ['read', 'mint'] } },
    { method: 'POST', path: '/v1/messages', body: { to: '@donna', subject: 'a' } },
    {
      method: 'POST',
      path: '/agents/donna/message:send',
      body: {
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'a' }] },
        configuration: { returnImmediately: true },
      },
    },
  ]
  for (const act of acts) {
    const headers = { 'Idempotency-Key': 'once', 'A2A-Version': '1.0' }
    const by = ({ key }: Pick<TestAgent, 'key'>) => gateway.call(act.method, act.path, act.body, { key, headers })
    expect((await by(donna)).status).toBeLessThan(300)
    for (const other of [rotated, weak]) {
      const text = JSON.stringify((await by(other)).body)
      expect(text).toMatch(/idempotency-conflict|IDEMPOTENCY_CONFLICT/)
      expect(text).toContain('with another API key or token')
    }
    expect((await by(donna)).status).toBeLessThan(300)
  }
  expect((await gateway.call('GET', '/v1/agents/donna/keys', undefined, donna)).body.keys).toHaveLength(4)
  expect((await gateway.call('GET', '/v1/tasks', undefined, donna)).body.tasks).toHaveLength(1)
})

test('a code that signs in is made once for each request, whatever key the request names', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const make = () => ask(gateway, { method: 'POST', path: '/v1/sign-in-codes', by: donna })
  const [one, other] = [await make(), await make()]
  expect([one.status, other.status, isReplayed(other)]).toEqual([201, 201, false])
  expect(one.body.code).not.toBe(other.body.code)
  expect(await besideStore(gateway.dataDir, 'select key from idempotency_key')).toEqual([])
})

test('answers that are kept count as stored, until they are removed; without room none is kept', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const change = (n: number) =>
    ask(
      gateway,
      { method: 'PATCH', path: '/v1/agents/donna', body: { description: `${n}`.repeat(2_000) }, by: donna },
      `k${n}`,
    )
  const stored = async () => Number((await besideStore(gateway.dataDir, 'select bytes from usage'))[0]?.bytes ?? 0)
  const countedUntil = (isIt: (bytes: number) => boolean) =>
    until(async () => {
      clock.advance(2_000)
      return stored()
    }, isIt)
  expect((await change(1)).status).toBe(200)
  const bytes = await countedUntil((counted) => counted > 2_000)
  await gateway.call('PATCH', '/v1/projects/default', { limits: { bytesStored: 1_000 } })
  expect((await change(2)).status).toBe(200)
  expect((await change(2)).body).toMatchObject({ code: 'idempotency-begun' })
  expect((await change(1)).headers.get('idempotency-replayed')).toBe('true')
  clock.advance(25 * 3_600_000)
  expect(await countedUntil((counted) => counted < bytes)).toBeLessThan(100)
})

test('after a restart a call that had stored nothing is carried out, and one that had is not repeated', async () => {
  // Several gateways may share a store on PostgreSQL, and the call may run on another one.
  if (onPostgres) return
  using directory = dataDirectory()
  const first = await startGateway({ dataDir: directory.path })
  const make = (gateway: TestGateway, handle: string) =>
    ask(gateway, { method: 'POST', path: '/v1/agents', body: { handle } }, handle)
  for (const handle of ['donna', 'lola']) await make(first, handle)
  await first.stop()
  await besideStore(
    directory.path,
    `update idempotency_key set result_id = case key when 'donna' then '' else 'stored' end`,
  )
  await using second = await startGateway({ dataDir: directory.path })
  expect((await make(second, 'donna')).body.code).toBe('agent-exists')
  const { body } = await make(second, 'lola')
  expect([body.code, body.detail]).toEqual(['idempotency-begun', expect.stringContaining('was carried out')])
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
