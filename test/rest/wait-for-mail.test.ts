import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

async function office(gateway: TestGateway): Promise<{ donna: TestAgent; bob: TestAgent }> {
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  await gateway.call('POST', '/v1/sessions', { surface: 'test' }, { key: donna.key })
  return { donna, bob }
}

const waitFor = (gateway: TestGateway, { key }: TestAgent, seconds: number) =>
  gateway.call('GET', `/v1/inbox?waitSeconds=${seconds}`, undefined, { key })

const send = (gateway: TestGateway, { key }: TestAgent, fields: object) =>
  gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', ...fields }, { key })

test('mail that comes ends the wait at once, and is delivered with its answer', async () => {
  await using gateway = await startGateway()
  const { donna, bob } = await office(gateway)
  const waiting = waitFor(gateway, donna, 20)
  // So that the wait has begun.
  await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
  const sentAt = performance.now()
  const { body: sent } = await send(gateway, bob, {})
  const { status, body } = await waiting
  expect(performance.now() - sentAt).toBeLessThan(2_000)
  expect(status).toBe(200)
  expect(body).toMatchObject({ messages: [], nextPageToken: '', pendingSignals: [{ signal_id: sent.messageId }] })
  const { body: read } = await gateway.call('GET', `/v1/messages/${sent.messageId}`, undefined, { key: bob.key })
  expect(read.recipients).toMatchObject([{ receipt: 'written', deliveryMethod: 'piggyback' }])
  expect((await waitFor(gateway, donna, 0)).body.pendingSignals).toEqual([])
})

test('mail that waits already is the answer', async () => {
  await using gateway = await startGateway()
  const { donna, bob } = await office(gateway)
  await send(gateway, bob, {})
  expect((await waitFor(gateway, donna, 20)).body.pendingSignals).toHaveLength(1)
})

// S1-15
test('mail for the next turn does not end the wait, and comes with its answer; silent mail does neither', async () => {
  await using gateway = await startGateway()
  const { donna, bob } = await office(gateway)
  await send(gateway, bob, { wakePolicy: 'next_turn', subject: 'Later' })
  await send(gateway, bob, { wakePolicy: 'silent' })
  const began = performance.now()
  const { body } = await waitFor(gateway, donna, 1)
  expect(performance.now() - began).toBeGreaterThan(900)
  expect(body.pendingSignals).toMatchObject([{ subject: 'Later' }])
})

test('two waits of one agent get a message once', async () => {
  await using gateway = await startGateway()
  const { donna, bob } = await office(gateway)
  const waits = [waitFor(gateway, donna, 1), waitFor(gateway, donna, 1)]
  await send(gateway, bob, {})
  const got = (await Promise.all(waits)).flatMap(({ body }) => body.pendingSignals)
  expect(got).toHaveLength(1)
})

test('a client that goes away takes nothing', async () => {
  await using gateway = await startGateway()
  const { donna, bob } = await office(gateway)
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${donna.key}` }
  const lost = fetch(`${gateway.url}/v1/inbox?waitSeconds=20`, { headers, signal: gone.signal }).catch(() => 'gone')
  await gateway.call('GET', '/v1/whoami', undefined, { key: donna.key })
  gone.abort()
  expect(await lost).toBe('gone')
  await send(gateway, bob, {})
  expect((await waitFor(gateway, donna, 5)).body.pendingSignals).toHaveLength(1)
})

test('a key that is revoked, and a gateway that stops, end the wait', async () => {
  await using gateway = await startGateway()
  const { donna } = await office(gateway)
  const { body: key } = await gateway.call('POST', '/v1/agents/donna/keys', {}, { key: donna.key })
  const revoked = waitFor(gateway, { handle: '@donna', key: key.apiKey }, 50)
  await gateway.call('GET', '/v1/whoami', undefined, { key: key.apiKey })
  await gateway.call('DELETE', `/v1/agents/donna/keys/${key.keyId}`, undefined, { key: donna.key })
  expect(await revoked).toMatchObject({ status: 401 })
  const stopped = waitFor(gateway, donna, 50)
  await gateway.call('GET', '/v1/whoami', undefined, { key: donna.key })
  await gateway.stop()
  expect(await stopped).toMatchObject({ status: 200, body: { pendingSignals: [] } })
})

test('refuses who gets no mail, other fields, and a wait that is too long', async () => {
  await using gateway = await startGateway()
  const { donna, bob } = await office(gateway)
  const { body: reader } = await gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['read'] }, { key: donna.key })
  const refused = [
    await waitFor(gateway, { handle: '@donna', key: reader.apiKey }, 1),
    await waitFor(gateway, { handle: '@operator', key: gateway.adminKey }, 1),
    await waitFor(gateway, bob, 1),
    await waitFor(gateway, donna, 56),
    await gateway.call('GET', '/v1/inbox?waitSeconds=1&unread=true', undefined, { key: donna.key }),
  ]
  expect(refused.map(({ body }) => [body.code, body.field])).toEqual([
    ['forbidden', 'waitSeconds'],
    ['forbidden', 'waitSeconds'],
    ['session-not-found', undefined],
    ['invalid-request', 'waitSeconds'],
    ['invalid-request', 'waitSeconds'],
  ])
})

test('HEAD takes no mail: its answer could not show it', async () => {
  await using gateway = await startGateway()
  const { donna, bob } = await office(gateway)
  await send(gateway, bob, {})
  const headers = { authorization: `Bearer ${donna.key}` }
  expect((await fetch(`${gateway.url}/v1/inbox?waitSeconds=1`, { method: 'HEAD', headers })).status).toBe(200)
  expect((await waitFor(gateway, donna, 0)).body.pendingSignals).toHaveLength(1)
})
