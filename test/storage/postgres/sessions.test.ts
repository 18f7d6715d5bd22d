import { expect, test } from 'vitest'
import { begin, minute, noon, sessionOf, signalsOf, start } from '../../sessions/sessions.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { eventsOf } from '../../wakes/acts.ts'

async function startPair() {
  const clock = new FakeClock(noon)
  const one = await startGateway({ overrides: { clock } })
  const two = await startGateway({ dataDir: one.dataDir, overrides: { clock } })
  const close = async () => {
    await two.stop()
    await one[Symbol.asyncDispose]()
  }
  return { clock, gateways: [one, two] as const, [Symbol.asyncDispose]: close }
}

// D12, S2-11
test('of many that start at two gateways at once one session is left, and the mail is handed out once', async () => {
  await using pair = await startPair()
  const [one] = pair.gateways
  const donna = await one.addAgent('donna')
  for (const subject of ['a', 'b', 'c']) await one.call('POST', '/v1/messages', { to: '@donna', subject })
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => start(pair.gateways[i % 2]!, donna)))
  expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(201))
  const sessions = await Promise.all(answers.map(({ body }) => sessionOf(one, body.sessionId)))
  expect(sessions.filter(({ status }) => status === 'live')).toHaveLength(1)
  expect(await eventsOf(one, 'master.preempted')).toHaveLength(29)
  const signals = answers.flatMap(({ body }) => body.pendingSignals)
  const fromOperator = signals.filter(({ from }) => from === '@operator')
  expect(fromOperator.map(({ subject }) => subject).sort()).toEqual(['a', 'b', 'c'])
})

// S4-8
test('of two gateways that sweep only one announces that a session was silent', async () => {
  await using pair = await startPair()
  const [one, two] = pair.gateways
  const lola = await one.addAgent('lola')
  const quiet = await Promise.all(Array.from({ length: 10 }, (_, i) => one.addAgent(`quiet-${i}`)))
  await Promise.all(quiet.map((agent) => begin(one, agent)))
  pair.clock.advance(4 * minute)
  await begin(two, lola)
  pair.clock.advance(2 * minute)
  await until(
    () => {
      pair.clock.advance(1000)
      return eventsOf(one, 'peer.left')
    },
    (left) => left.length >= 10,
  )
  pair.clock.advance(20_000)
  expect(await eventsOf(two, 'peer.left')).toHaveLength(10)
  const left = (await signalsOf(two, lola)).filter(({ signalType }) => signalType === 'PeerLeft')
  expect(new Set(left.map(({ payload }) => payload.identity)).size).toBe(10)
  expect(left).toHaveLength(10)
})
