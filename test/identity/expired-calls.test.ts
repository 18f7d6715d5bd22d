import { expect, test } from 'vitest'
import { connect, dialects, saying, sendForTask, tell } from '../a2a/connect.ts'
import { beginSession, openStream } from '../fronts/mcp/http/wire.ts'
import { openEventStream } from '../support/event-stream.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startIssuer } from '../support/issuer.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { openWakeSocket } from '../support/wake-socket.ts'
import { startTrusting } from './trusting.ts'

/** The time that a call may be open after the expiry of its key. */
const withinMs = 1_000
/** The end is between two passes of every sweep that ends calls: those of the keys are 15 s apart, and `keyCheck` is 60 s. */
const lifeMs = 77_000

/** Opens every kind of call with the credential of an agent, and returns what to do until they have ended. */
async function openAll(gateway: TestGateway, key: string) {
  const donna = await gateway.addAgent('donna')
  const spy = { handle: '@spy', key }
  const { id } = await gateway.send('donna', 'hello', { key })
  const clients = await Promise.all(dialects.map((dialect) => connect(gateway, donna, key, dialect)))
  const streams = clients.map((client) => client.resubscribeTask({ tenant: '', id }))
  for (const stream of streams) expect(tell((await stream.next()).value!)).toBe('task submitted')
  const log = await openEventStream(`${gateway.url}/v1/events`, { authorization: `Bearer ${key}` })
  const fields = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  const subscribe = async () => (await gateway.call('POST', '/v1/wake-subscriptions', fields, spy)).body.subscriptionId
  const reader = await readWakes(gateway, spy, [await subscribe()])
  const socket = await openWakeSocket(gateway, spy, [await subscribe()])
  const mcp = await openStream(gateway, spy, await beginSession(gateway, spy))
  expect(mcp.status).toBe(200)
  await gateway.call('POST', '/v1/sessions', { surface: 'test' }, spy)
  const inbox = gateway.call('GET', '/v1/inbox?waitSeconds=50', undefined, spy)
  const sending = expect(sendForTask(clients[0]!, saying('wait'))).rejects.toThrow(/expired/)
  await until(
    () => gateway.call('GET', '/v1/tasks'),
    ({ body }) => body.totalSize === 2,
  )
  await gateway.call('GET', '/v1/whoami', undefined, spy)
  return {
    isOpen: () => !reader.hasEnded && !mcp.hasEnded && socket.socket.readyState === socket.socket.OPEN,
    /** Resolves when all have ended with the right error. */
    async ended() {
      const refused = streams.map((stream) => expect(stream.next()).rejects.toThrow(/expired/))
      await Promise.all([...refused, sending, reader.ended()])
      expect((await log.take(100)).at(-1)).toMatchObject({ event: 'error', data: { code: 'unauthenticated' } })
      expect(await inbox).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
      expect(await socket.closed).toBe(1008)
      await until(
        () => mcp.hasEnded,
        (hasEnded) => hasEnded,
      )
      await mcp[Symbol.asyncDispose]()
      await reader[Symbol.asyncDispose]()
      await log[Symbol.asyncDispose]()
    },
  }
}

// The attack: a client opens its calls just before its key expires, and reads on.
test('streams and calls of every binding end within a second after their key expires', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await gateway.addAgent('spy')
  const terms = { expiresInSeconds: lifeMs / 1_000 }
  const { body } = await gateway.call('POST', '/v1/agents/spy/keys', terms)
  clock.advance(lifeMs - 30_000)
  const calls = await openAll(gateway, body.apiKey)
  clock.advance(29_999)
  expect((await gateway.call('GET', '/v1/whoami', undefined, { key: body.apiKey })).status).toBe(200)
  expect(calls.isOpen()).toBe(true)
  clock.advance(withinMs)
  await calls.ended()
})

test('they end within a second after their token is no longer accepted', async () => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer, {}, { overrides: { clock } })
  await gateway.addAgent('spy')
  const endsAt = clock.now() + lifeMs
  const token = await issuer.sign({ sub: 'spy', exp: endsAt / 1_000 }, { now: clock.now() })
  clock.advance(lifeMs - 10_000)
  const calls = await openAll(gateway, token)
  // Clocks may differ by 30 s, so a token is accepted this much longer.
  clock.advance(10_000 + 29_999)
  expect((await gateway.call('GET', '/v1/whoami', undefined, { key: token })).status).toBe(200)
  expect(calls.isOpen()).toBe(true)
  clock.advance(withinMs)
  await calls.ended()
})

test('a stream of an operator ends within a second after its key expires', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const terms = { role: 'viewer', expiresInSeconds: lifeMs / 1_000 }
  const { body } = await gateway.call('POST', '/v1/operator-keys', terms)
  await using stream = await openEventStream(`${gateway.url}/v1/events`, {
    authorization: `Bearer ${body.operatorKey}`,
  })
  clock.advance(lifeMs - 1 + withinMs)
  expect((await stream.take(10)).at(-1)).toMatchObject({ event: 'error', data: { code: 'unauthenticated' } })
})
