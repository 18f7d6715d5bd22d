import { expect, test } from 'vitest'
import { connect, dialects, saying, sendForTask, tell } from '../a2a/connect.ts'
import { openEventStream } from '../support/event-stream.ts'
import { startIssuer } from '../support/issuer.ts'
import { servedMs } from '../support/served-time.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { startTwo } from './two-gateways.ts'

/** The time that a revocation on one gateway may take to have its effect on another. */
const withinMs = 1_000

test('a revocation on one gateway ends calls on the other within a second, on every binding', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  const spy = await a.addAgent('spy')
  const { id } = await b.send('donna', 'hello', { key: spy.key })
  const clients = await Promise.all(dialects.map((dialect) => connect(b, donna, spy.key, dialect)))
  const streams = clients.map((client) => client.resubscribeTask({ tenant: '', id }))
  for (const stream of streams) expect(tell((await stream.next()).value!)).toBe('task submitted')
  await using log = await openEventStream(`${b.url}/v1/events`, { authorization: `Bearer ${spy.key}` })
  const waiting = expect(sendForTask(clients[0]!, saying('wait'))).rejects.toThrow(/revoked/)
  await until(
    () => a.call('GET', '/v1/tasks'),
    ({ body }) => body.totalSize === 2,
  )

  const { body } = await a.call('GET', '/v1/agents/spy/keys')
  await a.call('DELETE', `/v1/agents/spy/keys/${body.keys[0].keyId}`)
  const revokedAt = servedMs()
  const endings = streams.map((stream) => expect(stream.next()).rejects.toThrow(/revoked/))
  await Promise.all([...endings, waiting])
  const received = await log.take(100)
  expect(servedMs() - revokedAt).toBeLessThan(withinMs)
  expect(received.at(-1)).toMatchObject({ event: 'error', data: { code: 'unauthenticated' } })
})

test('an agent that is removed on one gateway is sent nothing more by the other', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  const spy = await a.addAgent('spy')
  const { id } = await b.send('donna', 'hello', { key: spy.key })
  const client = await connect(b, donna, spy.key, dialects[0]!)
  const stream = client.resubscribeTask({ tenant: '', id })
  await stream.next()
  const revokedAt = servedMs()
  await a.call('DELETE', '/v1/agents/spy')
  await expect(stream.next()).rejects.toThrow(/revoked/)
  expect(servedMs() - revokedAt).toBeLessThan(withinMs)
})

test('a stream of wakes and a wait for mail on one gateway end within a second of a revocation on the other', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  const { body: leaked } = await a.call('POST', '/v1/agents/donna/keys', {}, donna)
  const spy = { ...donna, key: leaked.apiKey as string }
  const fields = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  const { body: subscription } = await a.call('POST', '/v1/wake-subscriptions', fields, donna)
  await using reader = await readWakes(b, spy, [subscription.subscriptionId])
  await a.call('POST', '/v1/sessions', { surface: 'test' }, donna)
  const waiting = b.call('GET', '/v1/inbox?waitSeconds=50', undefined, spy)
  await b.call('GET', '/v1/whoami', undefined, spy)

  await a.call('DELETE', `/v1/agents/donna/keys/${leaked.keyId}`, undefined, donna)
  const revokedAt = servedMs()
  const [ended] = await Promise.all([waiting, reader.ended()])
  expect(servedMs() - revokedAt).toBeLessThan(withinMs)
  expect(ended).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  await a.send('donna', 'after the revocation')
  expect(reader.wakes).toEqual([])
})

// The attack: a client with a stolen token, or with the key of an operator, reads on at a gateway that did not see the revocation.
test.each([
  ['a token of an agent', 'token', { sub: 'spy', project: 'default' }],
  ['a token of an operator', 'token', { sub: 'ops', role: 'admin' }],
  ['an operator key', 'key', {}],
] as const)(
  'streams under %s on one gateway end within a second of its revocation on the other',
  async (_, kind, claims) => {
    await using issuer = await startIssuer()
    const entry = { issuer: issuer.url, audience: 'rouse', claims: { project: 'project', role: 'role' }, projects: '*' }
    await using two = await startTwo({ ROUSE_JWT_ISSUERS: JSON.stringify([entry]) })
    const { a, b } = two
    const donna = await a.addAgent('donna')
    await a.addAgent('spy')
    const made = kind === 'key' ? (await a.call('POST', '/v1/operator-keys', { role: 'admin' })).body : undefined
    const bearer: string = made?.operatorKey ?? (await issuer.sign({ ...claims, jti: 'stolen' }))
    const { id } = await b.send('donna', 'hello', { key: bearer })
    const clients = await Promise.all(dialects.map((dialect) => connect(b, donna, bearer, dialect)))
    const streams = clients.map((client) => client.resubscribeTask({ tenant: '', id }))
    for (const stream of streams) expect(tell((await stream.next()).value!)).toBe('task submitted')
    await using log = await openEventStream(`${b.url}/v1/events`, { authorization: `Bearer ${bearer}` })

    const revocation = made
      ? await a.call('DELETE', `/v1/operator-keys/${made.keyId}`)
      : await a.call('POST', '/v1/tokens/revoke', { token: bearer })
    const revokedAt = servedMs()
    expect(revocation.status).toBe(204)
    await Promise.all(streams.map((stream) => expect(stream.next()).rejects.toThrow(/revoked/)))
    const received = await log.take(100)
    expect(servedMs() - revokedAt).toBeLessThan(withinMs)
    expect(received.at(-1)).toMatchObject({ event: 'error', data: { code: 'unauthenticated' } })
  },
)
