import { expect, test } from 'vitest'
import { passing, recoveryOf } from '../../recovery/acts.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { eventsOf } from '../../wakes/acts.ts'
import { replOf } from '../restart/repl.ts'
import { startBridge, workplace } from '../run/bridge-desk.ts'
import { FakeHarness } from '../run/fake-harness.ts'

const run = '0123456789abcdef'

/** A gateway whose time a test moves, and a bridge with a recipe. The harness does not say its process, because that starts in real time. */
async function openLoop() {
  const home = dataDirectory()
  const clock = new FakeClock(Date.now())
  const gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await gateway.call('PATCH', '/v1/gate', { restarts: 'enabled' })
  const repl = replOf({ cwd: workplace(home.path), gateway, key: donna.key, env: { SAYS_NO_PID: 'yes' } })
  const rows = [new FakeHarness().row()]
  const options = { gateway, agents: [donna], rows, home: home.path, restart: repl.recipe, accountMs: 20 }
  const liveSession = async () =>
    (await gateway.call('GET', '/v1/sessions?status=live', undefined, { key: donna.key })).body.sessions[0]
  const sunset = async (query = '') => {
    const { sessionId } = await liveSession()
    await gateway.call('DELETE', `/v1/sessions/${sessionId}${query}`, undefined, { key: donna.key })
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: lola.key })
    return sessionId as string
  }
  return {
    gateway,
    donna,
    clock,
    repl,
    options,
    liveSession,
    sunset,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      home[Symbol.dispose]()
    },
  }
}

// S3-6, S3-9, S3-11
test('a session that has ended is followed by a new process, a new session and its first act, with one process at the end', async () => {
  await using loop = await openLoop()
  const { gateway, clock, repl } = loop
  await using bridge = await startBridge(loop.options)
  expect(await proven(bridge)).toMatchObject({ state: 'proven' })
  const former = await loop.sunset()
  await passing(
    clock,
    () => until(async () => true, Boolean),
    async () => repl.starts().length,
    (count) => count === 2,
  )
  await passing(
    clock,
    async () => {},
    () => recoveryOf(gateway, 'donna'),
    ({ inFlight, epoch }) => inFlight === null && epoch === 1,
  )
  expect((await eventsOf(gateway, 'recovery.ended')).map(({ data }) => data.change)).toEqual(['cleared'])
  const [first, second] = repl.starts()
  expect(repl.running()).toEqual([second!.pid])
  expect(second!.prompt).toContain('(restart 1)')
  expect(first!.pid).not.toBe(second!.pid)
  expect((await loop.liveSession()).sessionId).not.toBe(former)
})

// S3-9
test('what its user has closed is not started anew', async () => {
  await using loop = await openLoop()
  const { gateway, clock, repl } = loop
  await using bridge = await startBridge(loop.options)
  await proven(bridge)
  await loop.sunset('?by=person')
  await passing(
    clock,
    async () => {},
    () => recoveryOf(gateway, 'donna'),
    ({ decision }) => decision?.reason === 'closed_by_person',
  )
  expect(repl.starts()).toHaveLength(1)
})

const proven = (bridge: Awaited<ReturnType<typeof startBridge>>) =>
  until(
    () => bridge.prove('@donna', run),
    ({ state }) => state !== 'running',
  )
