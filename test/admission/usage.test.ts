import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const dayMs = 24 * 60 * 60 * 1000
const words = 'x'.repeat(9_000)

async function start(clock = new FakeClock(), dataDir?: string) {
  const gateway = await startGateway({
    env: { ROUSE_MESSAGES_PER_MINUTE: '0', ROUSE_STORM_MESSAGES: '0', ROUSE_MESSAGE_RETENTION: '1' },
    overrides: { clock },
    ...(dataDir === undefined ? {} : { dataDir }),
  })
  return { gateway, clock, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

const limit = (gateway: TestGateway, limits: Record<string, number | null>) =>
  gateway.call('PATCH', '/v1/projects/default', { limits })

/** Sends until a refusal. Returns how many sends were accepted, and the refusal. */
async function fill(gateway: TestGateway, key: string, clock: FakeClock) {
  for (let taken = 0; taken < 200; taken++) {
    const body = { to: '@donna', subject: 'x', body: words }
    const answer = await gateway.call('POST', '/v1/messages', body, { key })
    if (answer.status !== 201) return { taken, refusal: answer }
    clock.advance(1_000)
  }
  throw new Error('Nothing was refused.')
}

test('an agent at its quota stores no more, by mail, message or artifact; reading, answering and deleting still work', async () => {
  await using s = await start()
  const mallory = await s.gateway.addAgent('mallory')
  const donna = await s.gateway.addAgent('donna')
  const { id } = await s.gateway.send('mallory', 'x', { key: donna.key })
  await limit(s.gateway, { bytesStored: 100_000 })
  const { taken, refusal } = await fill(s.gateway, mallory.key, s.clock)
  expect(taken).toBeGreaterThanOrEqual(10)
  expect(taken).toBeLessThan(20)
  expect(refusal.status).toBe(429)
  expect(refusal.body).toMatchObject({ code: 'quota-exceeded', limit: 100_000, limitName: 'bytesStored' })
  expect(refusal.headers.get('retry-after')).toBe('60')

  await expect(s.gateway.send('donna', 'x', { key: mallory.key })).rejects.toThrow('QUOTA_EXCEEDED')
  const artifact = { artifact: { parts: [{ text: 'x' }] } }
  const added = await s.gateway.call('POST', `/v1/tasks/${id}/artifacts`, artifact, mallory)
  expect(added.body.code).toBe('quota-exceeded')
  expect((await s.gateway.move(mallory, id, 'completed', { message: 'done' })).body.code).toBe('quota-exceeded')
  expect((await s.gateway.move(mallory, id, 'completed')).status).toBe(200)

  await s.gateway.send('donna', 'x', { key: donna.key })
  const mail = await s.gateway.call('POST', '/v1/messages', { to: '@mallory', subject: 'x' }, donna)
  const { messageId } = mail.body
  expect((await s.gateway.call('GET', '/v1/inbox', undefined, mallory)).status).toBe(200)
  const acked = await s.gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'acked' }, mallory)
  expect(acked.status).toBe(200)
  await limit(s.gateway, { bytesStored: 0 })
  expect((await s.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, mallory)).status).toBe(201)
})

test('stored bytes are known to the next gateway, and retention reduces them', async () => {
  const clock = new FakeClock()
  await using s = await start(clock)
  const mallory = await s.gateway.addAgent('mallory')
  const donna = await s.gateway.addAgent('donna')
  await limit(s.gateway, { bytesStored: 100_000 })
  await fill(s.gateway, mallory.key, clock)
  await s.gateway.stop()

  await using again = await start(clock, s.gateway.dataDir)
  const mail = { to: '@donna', subject: 'x' }
  const send = () => again.gateway.call('POST', '/v1/messages', mail, mallory)
  await until(send, ({ body }) => body.code === 'quota-exceeded')
  await again.gateway.call('GET', '/v1/inbox?limit=100', undefined, donna)
  await again.gateway.call('POST', '/v1/sessions', { surface: 'codex' }, donna)
  clock.advance(2 * dayMs)
  await until(
    () => {
      clock.advance(61_000)
      return send()
    },
    ({ status }) => status === 201,
  )
})

test('the agents of a project fill it together, and leave another project alone', async () => {
  await using s = await start()
  await s.gateway.call('POST', '/v1/projects', { project: 'red' })
  const zoe = await s.gateway.addAgent('zoe', { project: 'red' })
  await s.gateway.addAgent('donna')
  const agents = await Promise.all(Array.from({ length: 25 }, (_, n) => s.gateway.addAgent(`agent-${n}`)))
  // A project may have twenty times as much.
  await limit(s.gateway, { bytesStored: 5_000 })
  const send = (agent: { readonly key: string }, to = '@donna') =>
    s.gateway.call('POST', '/v1/messages', { to, subject: 'x', body: words }, { key: agent.key })
  for (const agent of agents) {
    await send(agent)
    s.clock.advance(1_000)
  }
  const late = await s.gateway.addAgent('late')
  const { body } = await send(late)
  expect(body).toMatchObject({
    code: 'quota-exceeded',
    limitName: 'bytesStored',
    detail: expect.stringContaining('Project default'),
  })
  expect((await send(zoe, '@zoe')).status).toBe(201)
  expect((await send({ key: s.gateway.adminKey })).status).toBe(201)
})
