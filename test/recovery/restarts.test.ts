import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { eventsOf } from '../wakes/acts.ts'
import { asBridge, beginSilent, gateOf, minute, pass, passing, quick, recoveryOf, report } from './acts.ts'

/** An agent whose session has ended with mail that waits, and the bridge of its machine. Restarts are enabled. */
async function gone(clock: FakeClock) {
  const gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await gateway.call('PATCH', '/v1/gate', { restarts: 'enabled', ...quick })
  const first = await beginSilent(gateway, donna)
  await gateway.call('DELETE', `/v1/sessions/${first.sessionId}`, undefined, { key: donna.key })
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: lola.key })
  let order: { epoch: number } | null = null
  const bridge = async (fields: object = {}) => {
    order = (await report(gateway, donna, fields)).order
    return order
  }
  const ordered = () =>
    passing(
      clock,
      bridge,
      async () => order,
      (found) => found !== null,
    )
  const act = (epoch: number) => asBridge(gateway, donna, 'POST', '/v1/recovery/acts', { epoch })
  return {
    gateway,
    donna,
    lola,
    first,
    bridge,
    ordered,
    act,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

// S3-6, S3-9, S3-11
test('an agent that is gone is ordered anew once; the first act of a new process ends it', async () => {
  const clock = new FakeClock()
  await using world = await gone(clock)
  const { gateway, donna, first, bridge, ordered, act } = world
  const order = await ordered()
  expect(order).toMatchObject({ epoch: 1, mode: 'restart', reason: 'session_gone', deadlineAt: expect.any(String) })
  expect(await recoveryOf(gateway, 'donna')).toMatchObject({
    candidates: [{ kind: 'sunset', grade: 'verified' }],
    inFlight: { mode: 'restart', epoch: 1, begunAt: null, evidence: { formerSessionId: first.sessionId } },
  })
  expect((await act(1)).status).toBe(200)
  // Begun once: a second bridge, or one that was killed and came back, hears that it is too late.
  expect((await act(1)).body).toMatchObject({ code: 'stale-epoch', current: null })
  expect(await bridge()).toBe(null)
  const startedAt = new Date(clock.now()).toISOString()
  await asBridge(gateway, donna, 'POST', '/v1/recovery/acts/1/report', { outcome: 'started', pid: 2, startedAt })
  clock.advance(1_000)
  const second = await beginSilent(gateway, donna, 2, startedAt)
  await pass(gateway, clock, minute, second.live)
  expect((await recoveryOf(gateway, 'donna')).inFlight).toMatchObject({ mode: 'restart', epoch: 1 })
  await gateway.call('GET', '/v1/inbox', undefined, { key: donna.key })
  await passing(
    clock,
    second.live,
    () => recoveryOf(gateway, 'donna'),
    ({ inFlight }) => inFlight === null,
  )
  expect((await eventsOf(gateway, 'recovery.ended')).map(({ data }) => data.change)).toEqual(['cleared'])
})

test('an act of an epoch that is over is refused, and so is one of an epoch that never was', async () => {
  const clock = new FakeClock()
  await using world = await gone(clock)
  const { ordered, act, bridge, gateway } = world
  expect((await act(1)).body).toMatchObject({ code: 'stale-epoch' })
  await ordered()
  await passing(
    clock,
    bridge,
    () => recoveryOf(gateway, 'donna'),
    ({ abandoned }) => abandoned === 1,
  )
  expect((await act(1)).body).toMatchObject({ code: 'stale-epoch' })
  expect((await act(7)).body).toMatchObject({ code: 'stale-epoch' })
})

// S3-10
test('a gate that a person closes after the order stops the act', async () => {
  const clock = new FakeClock()
  await using world = await gone(clock)
  const { gateway, ordered, act, bridge } = world
  await ordered()
  await gateway.call('PATCH', '/v1/gate', { restarts: 'disabled', reason: 'we look at it first' })
  expect(await bridge()).toBe(null)
  expect((await act(1)).body).toMatchObject({
    status: 409,
    code: 'gate-closed',
    gate: { restarts: 'disabled', reason: 'we look at it first' },
  })
  expect(await recoveryOf(gateway, 'donna')).toMatchObject({ inFlight: null })
})

test('a start that has failed may be tried again, until the bound of an hour trips the gate', async () => {
  const clock = new FakeClock()
  await using world = await gone(clock)
  const { gateway, donna, ordered, act, bridge } = world
  for (const epoch of [1, 2, 3]) {
    expect(await ordered()).toMatchObject({ epoch })
    await act(epoch)
    const detail = 'exit code 1'
    await asBridge(gateway, donna, 'POST', `/v1/recovery/acts/${epoch}/report`, { outcome: 'failed', detail })
    expect(await bridge()).toBe(null)
  }
  await passing(
    clock,
    bridge,
    () => gateOf(gateway, '?agent=@donna'),
    ({ restarts }) => restarts === 'tripped',
  )
  expect(await gateOf(gateway, '?agent=@donna')).toMatchObject({
    nudges: 'tripped',
    reason: 'too many acts within an hour',
  })
  expect(await gateOf(gateway)).toMatchObject({ restarts: 'enabled' })
  const [tripped] = (await eventsOf(gateway, 'gate.changed')).filter(({ data }) => data.agent === '@donna')
  expect(tripped).toMatchObject({ actor: '@gateway', data: { restarts: 'tripped' } })
})

test('a refused start, and a session that a person closed, are not tried again', async () => {
  const clock = new FakeClock()
  await using world = await gone(clock)
  const { gateway, donna, lola, ordered, act, bridge } = world
  await ordered()
  await act(1)
  await asBridge(gateway, donna, 'POST', '/v1/recovery/acts/1/report', { outcome: 'refused' })
  await pass(gateway, clock, 4 * minute, bridge)
  expect(await bridge()).toBe(null)
  const next = await beginSilent(gateway, donna, 3, new Date(clock.now()).toISOString())
  const path = `/v1/sessions/${next.sessionId}?by=person`
  const { body } = await gateway.call('DELETE', path, undefined, { key: donna.key })
  expect(body).toMatchObject({ status: 'ended', reason: 'closed' })
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'y' }, { key: lola.key })
  await pass(gateway, clock, 4 * minute, bridge)
  expect(await bridge()).toBe(null)
  expect(await recoveryOf(gateway, 'donna')).toMatchObject({ decision: { reason: 'closed_by_person' } })
})
