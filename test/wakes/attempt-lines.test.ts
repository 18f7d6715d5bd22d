import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { advanceUntil, untilAttempts } from './acts.ts'

async function startWorld(how: number) {
  const { log, of } = logLines()
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { log, clock, random: () => 0 } })
  const receiver = await startReceiver(how)
  const donna = await gateway.addAgent('donna')
  /** Resolves when so many attempts have been logged. */
  const attempts = (count: number) =>
    until(
      () => of('wake.attempted'),
      (lines) => lines.length >= count,
    )
  return {
    gateway,
    receiver,
    donna,
    clock,
    of,
    attempts,
    async [Symbol.asyncDispose]() {
      await receiver[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

test('a wake that is given up is a warning that says whose it was, how often it was tried, and why', async () => {
  await using one = await startWorld(503)
  const { id } = await one.gateway.subscribe(one.donna, one.receiver.url)
  await one.gateway.send('donna', 'hello')
  const lines = await advanceUntil(
    one.clock,
    1_000,
    () => one.of('wake.given_up'),
    ({ length }) => length > 0,
  )
  const { eventId } = one.receiver.wakes[0]!.body
  expect(lines).toMatchObject([
    { level: 'warn', subscriptionId: id, agent: '@donna', project: 'default', eventId, attempts: 4 },
  ])
  expect(lines[0]).toHaveProperty('reason')
})

// S1-41
test('a digest is one line, with how many events it carries and how long the first of them waited for the others', async () => {
  await using one = await startWorld(200)
  const metadata = { coalesceWindow: 60, coalesceMode: 'window' }
  const { id } = await one.gateway.subscribe(one.donna, one.receiver.url, { harnessTargetMetadata: metadata })
  await one.gateway.send('donna', 'first')
  one.clock.advance(20_000)
  await one.gateway.send('donna', 'second')
  one.clock.advance(40_000)
  const [line] = await one.attempts(1)
  const { body } = one.receiver.wakes[0]!
  expect(line).toMatchObject({
    level: 'info',
    subscriptionId: id,
    agent: '@donna',
    eventId: body.eventId,
    eventType: 'wake/digest',
    logIds: [body.payload.fromLogId, body.logId],
    eventCount: 2,
    waitedMs: 60_000,
    attempt: 1,
    status: 200,
  })
  expect(JSON.stringify(line)).not.toMatch(/http:|first|second/)
})

test('of a subscription that fails the first failure is a warning, the others are for debug, and success is reported once', async () => {
  await using one = await startWorld(503)
  const { id } = await one.gateway.subscribe(one.donna, one.receiver.url)
  await one.gateway.send('donna', 'hello')
  for (const [made, waitMs] of [
    [1, 1000],
    [2, 2000],
  ] as const) {
    await one.attempts(made)
    await one.receiver.waitFor(made)
    await untilAttempts(one.gateway, one.donna, id, made, one.clock)
    if (made === 2) one.receiver.respond(200)
    one.clock.advance(waitMs)
  }
  const lines = await one.attempts(3)
  expect(lines.map(({ level, attempt, status }) => [level, attempt, status])).toEqual([
    ['warn', 1, 503],
    ['debug', 2, 503],
    ['info', 3, 200],
  ])
  expect(one.of('wake.back')).toEqual([
    {
      level: 'info',
      event: 'wake.back',
      subscriptionId: id,
      agent: '@donna',
      project: 'default',
      failures: 2,
      spellMs: 3000,
    },
  ])
  one.receiver.respond(503)
  await one.gateway.send('donna', 'again')
  expect((await one.attempts(4))[3]).toMatchObject({ level: 'warn', attempt: 1 })
})
