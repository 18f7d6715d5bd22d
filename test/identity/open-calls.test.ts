import { expect, test } from 'vitest'
import { OpenCalls } from '../../src/identity/open-calls.ts'
import { projectLimits } from '../../src/limits.ts'
import { openEventStream } from '../support/event-stream.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startIssuer } from '../support/issuer.ts'
import { besideStore } from '../support/store.ts'

const limits = { streams: 3, blockingCalls: 1 }
const donna = { kind: 'agent', id: 'AGENT:donna', projectId: 'web', keyId: 'key-1', limits } as const
const second = { ...donna, keyId: 'key-2' }

test('a key and an agent have a limit of open calls of each kind, and one that ends frees a place', () => {
  const calls = new OpenCalls(new FakeClock())
  const first = calls.open(donna, 'streams')
  calls.open(donna, 'streams')
  expect(() => calls.open(donna, 'streams')).toThrow(expect.objectContaining({ code: 'limit-exceeded', status: 429 }))
  calls.open(second, 'streams')
  expect(() => calls.open(second, 'streams')).toThrow(/This agent has 3 open streams.*raise streams for the project/)
  calls.open(second, 'blockingCalls')
  expect(() => calls.open(donna, 'blockingCalls')).toThrow(/This agent has 1 open calls that wait.*returnImmediately/)
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  calls.open(donna, 'streams')
  expect(() => calls.open(donna, 'streams')).toThrow(/This key has 2 open streams/)
})

test('the calls of a key end with it, those of an agent with the agent, and no more begin', () => {
  const calls = new OpenCalls(new FakeClock())
  const [one, other] = [calls.open(donna, 'streams'), calls.open(second, 'blockingCalls')]
  calls.end(['key-1', 'unknown'])
  expect([one.signal.aborted, other.signal.aborted]).toEqual([true, false])
  expect(() => calls.open(donna, 'streams')).toThrow(/revoked/)
  calls.end([donna.id])
  expect(other.signal.aborted).toBe(true)
  expect(() => calls.open({ ...donna, keyId: 'key-3' }, 'streams')).toThrow(/removed/)
})

test('operators have the same id and limits of their own, each by its key', () => {
  const calls = new OpenCalls(new FakeClock())
  const operators = ['a', 'b', 'c'].map(
    (keyId) => ({ kind: 'operator', id: 'operator', projectId: 'web', keyId, limits }) as const,
  )
  for (const operator of operators) calls.open(operator, 'streams')
  for (const operator of operators) calls.open(operator, 'streams')
  expect(() => calls.open(operators[0]!, 'streams')).toThrow(/This key has 2/)
})

test('ended calls leave nothing in memory', () => {
  const calls = new OpenCalls(new FakeClock())
  const opened = [calls.open(donna, 'streams'), calls.open(second, 'streams')]
  expect(calls.keys().map(({ keyId }) => keyId)).toEqual(['key-1', 'key-2'])
  for (const call of opened) call[Symbol.dispose]()
  expect(calls.keys()).toEqual([])
})

test('the check finds keys whose revocation message was lost', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const bob = await gateway.addAgent('bob')
  const { body } = await gateway.call('POST', '/v1/operator-keys', { label: 'eve', role: 'viewer' })
  const open = (key: string) => openEventStream(`${gateway.url}/v1/events`, { authorization: `Bearer ${key}` })
  await using ofAgent = await open(bob.key)
  await using ofOperator = await open(body.operatorKey)
  await using ofAdmin = await open(gateway.adminKey)
  await besideStore(gateway.dataDir, 'update api_key set revoked_at = 1')
  await besideStore(gateway.dataDir, 'update operator_key set revoked_at = 1')
  clock.advance(60_000)
  const refused = { event: 'error', data: { code: 'unauthenticated' } }
  expect([...(await ofAgent.take(10)), ...(await ofOperator.take(10))]).toMatchObject([refused, refused])
  await gateway.addAgent('donna')
  expect((await ofAdmin.take(1))[0]!.event).toBe('agent.created')
})

test('the check finds tokens whose revocation message was lost', async () => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  const env = { ROUSE_JWT_ISSUERS: JSON.stringify([{ issuer: issuer.url, audience: 'rouse' }]) }
  await using gateway = await startGateway({ env, overrides: { clock } })
  await gateway.addAgent('donna')
  const token = await issuer.sign({ sub: 'donna' }, { now: clock.now() })
  await using stream = await openEventStream(`${gateway.url}/v1/events`, { authorization: `Bearer ${token}` })
  const { keyId } = (await gateway.call('GET', '/v1/whoami', undefined, { key: token })).body
  await besideStore(gateway.dataDir, 'insert into revoked_token (id, expires_at) values (?, ?)', keyId, clock.now() * 2)
  clock.advance(60_000)
  expect((await stream.take(10)).at(-1)).toMatchObject({ event: 'error', data: { code: 'unauthenticated' } })
})

test('the streams of a key end when it expires', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await gateway.addAgent('bob')
  const { body } = await gateway.call('POST', '/v1/agents/bob/keys', { label: 'short', expiresInSeconds: 77 })
  await using stream = await openEventStream(`${gateway.url}/v1/events`, { authorization: `Bearer ${body.apiKey}` })
  clock.advance(77_000)
  expect((await stream.take(10)).at(-1)).toMatchObject({ event: 'error', data: { code: 'unauthenticated' } })
})

test('3,000 streams of one key: those above the limit are refused, and other callers are served', async () => {
  await using gateway = await startGateway()
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  await gateway.call('PATCH', '/v1/projects/default', { limits: { requestsPerMinute: 0 } })
  const opened: AbortController[] = []
  // Stored in a variable: a body without a reference is closed.
  const kept: Response[] = []
  const open = async (key: string) => {
    const controller = new AbortController()
    opened.push(controller)
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' }
    const response = await fetch(`${gateway.url}/v1/events`, { headers, signal: controller.signal })
    kept.push(response)
    return response.status
  }
  const perKey = projectLimits.streams.max / 2
  const counts = { 200: 0, 429: 0 } as Record<number, number>
  for (let wave = 0; wave < 30; wave += 1) {
    for (const status of await Promise.all(Array.from({ length: 100 }, () => open(mallory.key)))) counts[status]! += 1
  }
  expect(counts).toEqual({ 200: perKey, 429: 3_000 - perKey })
  expect(await open(bob.key)).toBe(200)

  const { id } = await gateway.send('bob', 'hello', { key: mallory.key })
  const headers = { 'A2A-Version': '1.0' }
  const rpc = { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } }
  const overRpc = await gateway.call('POST', '/agents/bob', rpc, { key: mallory.key, headers })
  expect(overRpc.body.error.data[0]).toMatchObject({
    reason: 'LIMIT_EXCEEDED',
    metadata: { limit: 'streams', max: '50' },
  })
  const overRest = await gateway.call('POST', `/agents/bob/tasks/${id}:subscribe`, undefined, {
    key: mallory.key,
    headers,
  })
  expect([overRest.status, overRest.body.error.status]).toEqual([429, 'RESOURCE_EXHAUSTED'])
  expect(Number(overRest.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(overRest.body.error.details[0]).toMatchObject({ reason: 'LIMIT_EXCEEDED' })
  for (const controller of opened) controller.abort()
})

test('a token that expired does not end its login: the next token of it is accepted', async () => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  const env = { ROUSE_JWT_ISSUERS: JSON.stringify([{ issuer: issuer.url, audience: 'rouse' }]) }
  await using gateway = await startGateway({ env, overrides: { clock } })
  await gateway.addAgent('donna')
  const sign = () => issuer.sign({ sid: 'one-login' }, { now: clock.now() })
  const open = (token: string) => openEventStream(`${gateway.url}/v1/events`, { authorization: `Bearer ${token}` })
  await using first = await open(await sign())
  clock.advance(240_000)
  const next = await sign()
  await using second = await open(next)
  // The first has expired, also for a clock that is half a minute behind.
  clock.advance(90_000)
  expect((await first.take(10)).at(-1)).toMatchObject({ event: 'error', data: { code: 'unauthenticated' } })
  expect((await gateway.call('GET', '/v1/whoami', undefined, { key: next })).status).toBe(200)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' })
  expect((await second.take(1))[0]!.event).toBe('message.sent')
})
