import { expect, test } from 'vitest'
import { startReceiver } from '../support/receiver.ts'
import { startTwo } from './two-gateways.ts'

test('the gateways share the admin key and the card key', async () => {
  await using two = await startTwo()
  const { a, b } = two
  expect(b.adminKey).toBe(a.adminKey)
  const keys = await Promise.all([a, b].map(async ({ call }) => (await call('GET', '/.well-known/jwks.json')).body))
  expect(keys[1]).toEqual(keys[0])
})

test('a gateway with another encryption key does not start, and names the remedy', async () => {
  await using two = await startTwo()
  const other = Buffer.alloc(32, 1).toString('base64')
  await expect(two.start({ ROUSE_ENCRYPTION_KEY: other })).rejects.toThrow(/Set ROUSE_ENCRYPTION_KEY to that of/)
  expect((await two.a.call('GET', '/readyz')).status).toBe(200)
})

test('an agent that is changed, a key that is revoked and a grant count everywhere at once', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  await b.call('PATCH', '/v1/agents/donna', { description: 'the reviewer' })
  const card = await a.call('GET', '/agents/donna/.well-known/agent-card.json')
  expect(card.body.description).toBe('the reviewer')
  const { body } = await a.call('POST', '/v1/agents/donna/keys', {})
  expect((await b.call('GET', '/v1/tasks', undefined, { key: body.apiKey })).status).toBe(200)
  await b.call('DELETE', `/v1/agents/donna/keys/${body.keyId}`)
  expect((await a.call('GET', '/v1/tasks', undefined, { key: body.apiKey })).status).toBe(401)
  expect((await a.call('GET', '/v1/tasks', undefined, { key: donna.key })).status).toBe(200)
})

test('wakes of several gateways arrive at a receiver in the order of the log, each once', async () => {
  await using two = await startTwo()
  const gateways = [two.a, two.b, await two.start()]
  const donna = await two.a.addAgent('donna')
  await using receiver = await startReceiver()
  await two.b.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const count = 150
  await Promise.all(Array.from({ length: count }, (_, i) => gateways[i % 3]!.send('donna', `task ${i}`)))
  const wakes = await receiver.waitFor(count, 30_000)
  const bodies = wakes.map(({ body }) => body)
  expect(new Set(bodies.map(({ eventId }) => eventId)).size).toBe(count)
  expect(bodies.map(({ prevLogId }) => prevLogId)).toEqual([null, ...bodies.slice(0, -1).map(({ logId }) => logId)])
})

test('the work of a gateway that stops continues on the others', async () => {
  await using two = await startTwo()
  const third = await two.start()
  const donna = await third.addAgent('donna')
  await using receiver = await startReceiver(503)
  await third.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await third.send('donna', 'please')
  await receiver.waitFor(1)
  await third.stop()
  receiver.respond(200)
  const [first, second] = await receiver.waitFor(2)
  expect(second!.body).toMatchObject({ eventId: first!.body.eventId, logId: first!.body.logId })
})
