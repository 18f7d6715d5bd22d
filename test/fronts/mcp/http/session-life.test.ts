import { expect, test } from 'vitest'
import { FakeClock } from '../../../support/fake-clock.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../../../support/gateway.ts'
import { until } from '../../../support/until.ts'
import { beginSession, openStream, ping, post } from './wire.ts'

const hourMs = 3_600_000

/** The statuses of a ping in each session, without a sign of life for the others meanwhile. */
async function livesOf(gateway: TestGateway, agent: TestAgent, sessions: readonly Record<string, string>[]) {
  const answers = await Promise.all(sessions.map((session) => post(gateway, agent, ping, session)))
  return answers.filter(({ status }) => status === 200).length
}

test('a session that nobody uses ends after a day, and one with an open stream stays', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const [idle, listening] = [await beginSession(gateway, donna), await beginSession(gateway, donna)]
  const stream = await openStream(gateway, donna, listening)
  // Sweeps come by the clock, and write between two steps of it.
  for (let hour = 0; hour < 26; hour++) {
    clock.advance(hourMs)
    await until(
      () => gateway.call('GET', '/readyz'),
      ({ status }) => status === 200,
    )
  }
  await until(
    async () => {
      clock.advance(60_000)
      return (await gateway.call('DELETE', '/mcp', undefined, { key: donna.key, headers: idle })).status
    },
    (status) => status === 404,
  )
  expect(stream.hasEnded).toBe(false)
  expect((await post(gateway, donna, ping, listening)).status).toBe(200)
  await stream[Symbol.asyncDispose]()
})

// Its rate refuses most of so many: hostile.test.ts. This is what is left where it does not.
test('a key that begins sessions without end has as many as it may have: the newest', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await liftRates(gateway)
  const begun: Record<string, string>[] = []
  for (let round = 0; round < 10; round++) {
    begun.push(...(await Promise.all(Array.from({ length: 100 }, () => beginSession(gateway, donna)))))
  }
  const max = 100
  expect(await livesOf(gateway, donna, begun.slice(0, -max))).toBe(0)
  expect(await livesOf(gateway, donna, begun.slice(-max))).toBe(max)
})
