import type { ServerResponse } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { projectLimits } from '../../src/limits.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startNameServer } from '../support/name-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { advanceUntil, deliveriesOf, type Json, sendMany, stateOf, untilAttempts } from '../wakes/acts.ts'

const tests = (gateway: TestGateway, id: string, key: string) =>
  gateway.call('POST', `/v1/wake-subscriptions/${id}/test`, undefined, { key })

const mailTo = (gateway: TestGateway, from: TestAgent, to: string) =>
  gateway.call('POST', '/v1/messages', { to, subject: 'hello', body: 'hello' }, { key: from.key })

/** Ports that take connections and say nothing. */
async function startSilence(ports: number) {
  const sockets = new Set<Socket>()
  const servers: Server[] = []
  for (let i = 0; i < ports; i++) {
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket)).on('error', () => {})
      socket.resume()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    servers.push(server)
  }
  return {
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as { port: number }).port}/`),
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
    },
  }
}

test('1,280 attempts to silent receivers use 128 places, and 32 for slow ones: the wakes of others arrive', async () => {
  await using gateway = await startGateway({ env: { ROUSE_WEBHOOK_TIMEOUT: '30' } })
  // It ends before the gateway, whose stop would wait for the attempts.
  await using silence = await startSilence(20)
  await using receiver = await startReceiver()
  const mallory = await gateway.addAgent('mallory')
  const victim = await gateway.addAgent('victim')
  await gateway.subscribe(victim, receiver.url)
  for (const url of silence.urls) {
    await gateway.subscribe(mallory, url, { harnessTargetMetadata: { maxInFlight: 64 } })
  }
  await sendMany(gateway, 'mallory', 64)
  await until(silence.open, (open) => open === 160)
  await sendMany(gateway, 'victim', 20)
  expect(await receiver.waitFor(20)).toHaveLength(20)
  expect(silence.open()).toBe(160)
})

test('tests of silent receivers take the slots of their agent, and of nobody else', async () => {
  await using gateway = await startGateway({ env: { ROUSE_WEBHOOK_TIMEOUT: '30' } })
  const held: ServerResponse[] = []
  await using slow = await startReceiver((_, res) => held.push(res))
  await using receiver = await startReceiver()
  const mallory = await gateway.addAgent('mallory')
  const victim = await gateway.addAgent('victim')
  const { id } = await gateway.subscribe(mallory, slow.url)
  const own = await gateway.subscribe(victim, receiver.url)
  const asking = Array.from({ length: projectLimits.requestsAtOnce.max + 4 }, () => tests(gateway, id, mallory.key))
  await slow.waitFor(projectLimits.requestsAtOnce.max)
  expect((await tests(gateway, own.id, victim.key)).body.attempt).toMatchObject({ status: 200 })
  expect(slow.wakes).toHaveLength(projectLimits.requestsAtOnce.max)
  slow.respond(200)
  for (const res of held) res.end()
  expect((await Promise.all(asking)).map(({ status }) => status)).toEqual(asking.map(() => 200))
})

test('a test needs a place like every attempt; without one in time it is refused, and uses none', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ env: { ROUSE_WEBHOOK_TIMEOUT: '30' }, overrides: { clock } })
  await using silence = await startSilence(1)
  const mallory = await gateway.addAgent('mallory')
  const { id } = await gateway.subscribe(mallory, silence.urls[0]!, { harnessTargetMetadata: { maxInFlight: 64 } })
  await sendMany(gateway, 'mallory', 64)
  await until(silence.open, (open) => open === 64)
  let answer: Json
  void tests(gateway, id, mallory.key).then((came) => {
    answer = came
  })
  await advanceUntil(
    clock,
    1_000,
    () => answer,
    (came) => came !== undefined,
  )
  expect(answer.status).toBe(429)
  expect(answer.headers.get('retry-after')).toBe('5')
  expect(answer.body).toMatchObject({
    code: 'rate-limited',
    detail: expect.stringContaining('Try again later.'),
  })
  expect(silence.open()).toBe(64)
})

test('a name server that never answers delays no wake to other names', async () => {
  await using server = await startNameServer((name) => (name.startsWith('slow') ? 'silence' : ['127.0.0.1']))
  await using gateway = await startGateway({ overrides: { names: server.names } })
  await using receiver = await startReceiver()
  const mallory = await gateway.addAgent('mallory')
  const victim = await gateway.addAgent('victim')
  for (let i = 0; i < 40; i++) await gateway.subscribe(mallory, `http://slow${i}.test:${receiver.port}/`)
  const { id } = await gateway.subscribe(victim, `http://victim.test:${receiver.port}/`)
  await gateway.send('mallory', 'look them all up')
  await until(
    () => new Set(server.queries).size,
    (count) => count >= 8,
  )
  await sendMany(gateway, 'victim', 10)
  const wakes = await receiver.waitFor(10)
  expect(wakes.every(({ headers }) => headers.host === `victim.test:${receiver.port}`)).toBe(true)
  expect(await stateOf(gateway, victim, id)).toMatchObject({ status: 'active', failedInARow: 0 })
})

test('a missing name and a name of a private address look the same to an agent, not to the operator', async () => {
  const clock = new FakeClock()
  const zone = (name: string) => (name === 'inside.test' ? ['10.0.0.5'] : ('no such name' as const))
  await using server = await startNameServer(zone)
  const logged: object[] = []
  const log = { ...silentLogger, info: (fields: object, event: string) => logged.push({ event, ...fields }) }
  await using gateway = await startGateway({ overrides: { clock, random: () => 0, names: server.names, log } })
  const donna = await gateway.addAgent('donna')
  const ids: string[] = []
  for (const name of ['inside.test', 'absent.test']) ids.push((await gateway.subscribe(donna, `http://${name}/`)).id)
  const words = async (key: string) => {
    const answers = []
    for (const id of ids) answers.push((await tests(gateway, id, key)).body.attempt.error)
    return answers
  }
  expect(await words(donna.key)).toEqual(['unreachable', 'unreachable'])
  expect(await words(gateway.adminKey)).toEqual(['refused', 'dns'])

  await gateway.send('donna', 'try both')
  for (const id of ids) {
    await advanceUntil(
      clock,
      1_000,
      async () => (await deliveriesOf(gateway, donna, id))[0],
      (delivery) => delivery?.outcome === 'failed',
    )
  }
  const [inside, absent] = await Promise.all(ids.map(async (id) => (await deliveriesOf(gateway, donna, id))[0]))
  const attemptsOf = ({ attempts }: Json) => attempts.map(({ status, error }: Json) => ({ status, error }))
  expect(attemptsOf(inside)).toEqual(attemptsOf(absent))
  expect(attemptsOf(inside)).toEqual(Array(4).fill({ status: null, error: 'unreachable' }))
  const [seen] = (await gateway.call('GET', `/v1/wake-subscriptions/${ids[0]}/deliveries`)).body.deliveries
  expect(seen.attempts[0]).not.toHaveProperty('isWithheld')
  expect(seen.attempts[0].error).toBe('refused')
  const unreachable = { event: 'wake.unreachable', subscriptionId: ids[0], error: 'refused' }
  expect(logged).toContainEqual({ ...unreachable, cause: 'inside.test resolves to 10.0.0.5' })
})

test('with a public URL the ports of the machine cannot be reached, even by old subscriptions', async () => {
  await using receiver = await startReceiver((_, res) => res.writeHead(405).end('INTERNAL secret=hunter2'))
  await using before = await startGateway()
  const mallory = await before.addAgent('mallory')
  const { id } = await before.subscribe(mallory, `${receiver.url}admin`)
  await before.stop()
  const env = { ROUSE_PUBLIC_URL: 'https://rouse.example' }
  await using gateway = await startGateway({ dataDir: before.dataDir, env })
  expect((await tests(gateway, id, mallory.key)).body.attempt).toMatchObject({ status: null, error: 'refused' })
  const another = { trigger: 'SENT_TO_ME', harnessTargetMetadata: { url: receiver.url } }
  const refused = await gateway.call('POST', '/v1/wake-subscriptions', another, { key: mallory.key })
  expect(refused).toMatchObject({ status: 422, body: { code: 'url-not-allowed' } })
  expect(receiver.wakes).toHaveLength(0)
})

test('the answer of a receiver inside the network is shown to the operator; the agent sees only the status', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver((_, res) => res.writeHead(405).end('INTERNAL secret=hunter2'))
  const mallory = await gateway.addAgent('mallory')
  const { id } = await gateway.subscribe(mallory, receiver.url)
  const { body } = await tests(gateway, id, mallory.key)
  expect(body.attempt).toMatchObject({ status: 405, error: null })
  expect(JSON.stringify(body)).not.toContain('hunter2')
  expect((await tests(gateway, id, gateway.adminKey)).body.attempt.response).toBe('INTERNAL secret=hunter2')
  await gateway.send('mallory', 'tell me')
  const delivery = await untilAttempts(gateway, mallory, id, 1, clock, 'rejected')
  expect(JSON.stringify(delivery)).not.toContain('hunter2')
  const deliveries = async (key: string) =>
    (await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`, undefined, { key })).body.deliveries
  expect((await deliveries(gateway.adminKey))[0].attempts[0].response).toBe('INTERNAL secret=hunter2')
  // An operator of some projects is a tenant's.
  const made = await gateway.call('POST', '/v1/operator-keys', { role: 'viewer', projects: ['default'] })
  const [seen] = await deliveries(made.body.operatorKey)
  expect(seen.attempts[0]).toMatchObject({ status: 405 })
  expect(JSON.stringify(seen)).not.toContain('hunter2')
})

// D40
test('a wake that is too large fails without a retry, and counts as one of three in a row', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver(413)
  const donna = await gateway.addAgent('donna')
  const mallory = await gateway.addAgent('mallory')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const fail = async (count: number) => {
    await mailTo(gateway, mallory, '@donna')
    await until(
      () => deliveriesOf(gateway, donna, id),
      (made) => made.length === count && made[0].outcome === 'failed',
    )
    return stateOf(gateway, donna, id)
  }
  expect(await fail(1)).toMatchObject({ status: 'active', failedInARow: 1 })
  expect(await fail(2)).toMatchObject({ status: 'active', failedInARow: 2 })
  receiver.respond(200)
  await mailTo(gateway, mallory, '@donna')
  const [last] = (await receiver.waitFor(3)).slice(-1)
  // The gap is visible: prevLogId names another wake.
  expect(last!.body.prevLogId).toBe(receiver.wakes[1]!.body.logId)
  receiver.respond(413)
  await until(
    () => stateOf(gateway, donna, id),
    ({ failedInARow }) => failedInARow === 0,
  )
  expect(await fail(4)).toMatchObject({ failedInARow: 1 })
  expect(await fail(5)).toMatchObject({ failedInARow: 2 })
  expect(await fail(6)).toMatchObject({ status: 'degraded', reason: '3 events failed in a row; the last: http-413' })
  expect(receiver.wakes).toHaveLength(6)
})
