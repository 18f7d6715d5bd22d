import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { liftRates, startGateway, type TestAgent } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

const minute = 60_000

const start = async () => {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  await liftRates(gateway)
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const iso = (ms: number) => new Date(clock.now() + ms).toISOString()
  return {
    gateway,
    clock,
    donna,
    mike,
    iso,
    send: (expiresInMs: number, message = {}) =>
      gateway.send('donna', 'now or never', {
        key: mike.key,
        message: { metadata: { expiresAt: iso(expiresInMs) }, ...message },
      }),
    read: async (id: string, agent: TestAgent = mike) =>
      (await gateway.call('GET', `/v1/tasks/${id}`, undefined, agent)).body,
    /** A later task that expires shows that the sweeper has passed over everything before it. */
    async sweep() {
      const marker = await this.send(1)
      await until(
        () => {
          clock.advance(1_000)
          return this.read(marker.id)
        },
        ({ state }) => state === 'failed',
      )
    },
    [Symbol.asyncDispose]: gateway[Symbol.asyncDispose],
  }
}

// D8
test('a task that no agent starts in time fails with the reason, and wakes both parties', async () => {
  await using s = await start()
  await using receiver = await startReceiver()
  await s.gateway.subscribe(s.mike, receiver.url, { harnessTargetMetadata: { includeOwn: true } })
  const deadline = s.iso(minute)
  const task = await s.send(minute)
  expect(await s.read(task.id)).toMatchObject({ state: 'submitted', expiresAt: deadline })
  await s.sweep()
  expect((await s.read(task.id)).state).toBe('submitted')

  s.clock.advance(minute)
  await s.sweep()
  const expired = await s.read(task.id)
  expect(expired).toMatchObject({
    state: 'failed',
    version: 2,
    reason: 'expired',
    expiresAt: deadline,
    status: {
      state: 'failed',
      message: { role: 'ROLE_AGENT', parts: [{ text: `expired: nobody took the task before ${deadline}` }] },
    },
  })
  expect(expired.history).toHaveLength(1)
  const { body } = await s.gateway.call('GET', '/v1/events?limit=1000', undefined, s.donna)
  const events = body.events.filter(({ taskId }: { taskId?: string }) => taskId === task.id)
  expect(events.at(-1)).toMatchObject({
    type: 'task.state_changed',
    actor: '@gateway',
    data: {
      previousState: 'submitted',
      newState: 'failed',
      reason: 'expired',
      originator: '@mike',
      assignee: '@donna',
    },
  })
  const wakes = await until(
    () => receiver.wakes.filter(({ body }) => body.payload.taskId === task.id),
    (seen) => seen.length === 2,
  )
  expect(wakes.map(({ body }) => body.payload.newState)).toEqual(['Submitted', 'Failed'])
})

test('a task that was started does not expire, even if its question is answered late', async () => {
  await using s = await start()
  const working = await s.send(minute)
  const asking = await s.send(minute)
  await s.gateway.move(s.donna, working.id, 'working')
  await s.gateway.move(s.donna, asking.id, 'input-required', { message: 'which?' })
  s.clock.advance(2 * minute)
  await s.gateway.send('donna', 'that one', { key: s.mike.key, message: { taskId: asking.id } })
  await s.sweep()
  expect((await s.read(working.id)).state).toBe('working')
  expect((await s.read(asking.id)).state).toBe('submitted')
})

test.each([
  ['submitted', [], 'failed'],
  ['working', ['working'], 'working'],
  ['input-required', ['input-required'], 'input-required'],
  ['auth-required', ['auth-required'], 'auth-required'],
  ['completed', ['completed'], 'completed'],
  ['rejected', ['rejected'], 'rejected'],
] as const)('at its deadline a task that is %s is %s after it', async (_state, path, after) => {
  await using s = await start()
  const task = await s.send(minute)
  for (const to of path) await s.gateway.move(s.donna, task.id, to)
  const before = await s.read(task.id)
  s.clock.advance(2 * minute)
  await s.sweep()
  const swept = await s.read(task.id)
  expect([swept.state, swept.version]).toEqual([after, before.version + (after === before.state ? 0 : 1)])
  if (after !== 'failed') return
  const late = { to: 'working', expectedVersion: before.version }
  const { body } = await s.gateway.call('POST', `/v1/tasks/${task.id}/transitions`, late, s.donna)
  expect(body).toMatchObject({ code: 'version-conflict', current: { state: 'failed', reason: 'expired' }, allowed: [] })
})

test('an answer may set a new deadline', async () => {
  await using s = await start()
  const task = await s.send(minute)
  await s.gateway.move(s.donna, task.id, 'input-required')
  await s.send(10 * minute, { taskId: task.id, metadata: { expiresAt: s.iso(10 * minute) } })
  s.clock.advance(5 * minute)
  await s.sweep()
  expect((await s.read(task.id)).state).toBe('submitted')
  s.clock.advance(6 * minute)
  await s.sweep()
  expect(await s.read(task.id)).toMatchObject({ state: 'failed', reason: 'expired' })
})

test('more expired tasks than one batch are all failed', async () => {
  await using s = await start()
  const sent = await Promise.all(Array.from({ length: 250 }, () => s.send(minute)))
  s.clock.advance(2 * minute)
  await s.sweep()
  const { body } = await s.gateway.call('GET', '/v1/tasks?role=originator&state=submitted', undefined, s.mike)
  expect(body.tasks).toEqual([])
  expect((await s.read(sent[249]!.id)).reason).toBe('expired')
})

test('an idempotency key answers with the first task for a day, and is forgotten then', async () => {
  await using s = await start()
  const send = async (text: string) =>
    (
      await s.gateway.send('donna', text, {
        key: s.mike.key,
        headers: { 'Idempotency-Key': 'one' },
        message: { messageId: `m-${text}` },
      })
    ).id
  const ids = await Promise.all(Array.from({ length: 10 }, () => send('hello')))
  expect(new Set(ids).size).toBe(1)
  await expect(send('something else')).rejects.toThrow('was used for another message')
  s.clock.advance(23 * 60 * minute)
  await s.sweep()
  expect(await send('hello')).toBe(ids[0])
  s.clock.advance(61 * minute)
  await s.sweep()
  await until(
    () => {
      s.clock.advance(1_000)
      return besideStore(s.gateway.dataDir, 'select count(*) as kept from idempotency_key')
    },
    ([row]) => row!.kept === 0,
  )
  expect(await send('hello')).not.toBe(ids[0])
})
