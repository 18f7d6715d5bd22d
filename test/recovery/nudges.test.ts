import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventsOf } from '../wakes/acts.ts'
import { beginSilent, minute, pass, passing, pulsesOf, quick, recoveryOf } from './acts.ts'

/** An agent in a live session that does nothing, with a webhook that has taken a wake, and mail that it has not read. */
async function silent(clock: FakeClock) {
  const gateway = await startGateway({ overrides: { clock } })
  const receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await gateway.call('PATCH', '/v1/gate', quick)
  const { sessionId, live } = await beginSilent(gateway, donna)
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const { body: mail } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: lola.key })
  await receiver.waitFor(1)
  const close = async () => {
    await gateway[Symbol.asyncDispose]()
    await receiver[Symbol.asyncDispose]()
  }
  return { gateway, receiver, donna, lola, sessionId, live, id, mail, [Symbol.asyncDispose]: close }
}

// S3-4, S3-11
test('a silent session with unread mail gets one nudge by its proven route, and its first act ends it', async () => {
  const clock = new FakeClock()
  await using world = await silent(clock)
  const { gateway, receiver, donna, live, id } = world
  const first = async () => pulsesOf(receiver)[0]
  const nudge = await passing(clock, live, first, (found) => found !== undefined)
  expect(nudge!.body).toMatchObject({
    eventType: 'wake/heartbeat_pulse',
    agentIdentity: '@donna',
    subscriptionId: id,
    payload: {
      agent: '@donna',
      mode: 'nudge',
      reason: 'unread_mail',
      unread: 1,
      openTasks: 0,
      next: 'Read your inbox.',
    },
  })
  expect(nudge!.body.payload).not.toHaveProperty('routing')
  const seen = await recoveryOf(gateway, 'donna')
  expect(seen).toMatchObject({
    epoch: 1,
    inFlight: { mode: 'nudge', epoch: 1, begunAt: null },
    candidates: [{ kind: 'idle_out_candidate', grade: 'candidate' }],
    actsLastHour: { nudges: 1, restarts: 0 },
  })
  clock.advance(1_000)
  await gateway.call('GET', '/v1/inbox?unread=true', undefined, { key: donna.key })
  await passing(
    clock,
    live,
    () => recoveryOf(gateway, 'donna'),
    ({ inFlight }) => inFlight === null,
  )
  expect((await eventsOf(gateway, 'recovery.ended')).map(({ data }) => data.change)).toEqual(['cleared'])
  await pass(gateway, clock, 4 * minute, live)
  // The mail is still unread: it is no new reason.
  expect(pulsesOf(receiver)).toHaveLength(1)
})

// S3-9
test('a nudge without an answer is abandoned in time, and is not repeated', async () => {
  const clock = new FakeClock()
  await using world = await silent(clock)
  const { gateway, receiver, live } = world
  await passing(
    clock,
    live,
    () => recoveryOf(gateway, 'donna'),
    ({ abandoned }) => abandoned === 1,
  )
  await pass(gateway, clock, 4 * minute, live)
  expect(pulsesOf(receiver)).toHaveLength(1)
  expect(await recoveryOf(gateway, 'donna')).toMatchObject({
    inFlight: null,
    abandoned: 1,
    decision: { action: 'nothing', reason: 'acted_already' },
  })
})

test('a call of a program beside the harness is no act, in whatever case its header is', async () => {
  const clock = new FakeClock()
  await using world = await silent(clock)
  const { gateway, receiver, donna, live } = world
  const headers = { 'Rouse-Pending-Signals': 'None' }
  const each = async () => {
    await live()
    await gateway.call('GET', '/v1/agents', undefined, { key: donna.key, headers })
  }
  const nudge = await passing(
    clock,
    each,
    async () => pulsesOf(receiver)[0],
    (found) => found !== undefined,
  )
  expect(nudge!.body.payload).toMatchObject({ mode: 'nudge' })
})

// S3-5, S1-12
test('while its harness waits for an approval nothing is sent, and operator and sender are told once', async () => {
  const clock = new FakeClock()
  await using world = await silent(clock)
  const { gateway, receiver, donna, lola, live } = world
  await using told = await startReceiver()
  const { status } = await gateway.call(
    'POST',
    '/v1/wake-subscriptions',
    { trigger: 'RECOVERY_CHANGED', harnessTargetMetadata: { url: told.url, coalesceWindow: 0 } },
    { key: lola.key },
  )
  expect(status).toBe(201)
  const waits = async () => {
    await live()
    const presence = { state: 'waitingOnApproval', source: 'bridge-daemon' }
    await gateway.call('PUT', '/v1/presence', presence, {
      key: donna.key,
      headers: { 'Rouse-Pending-Signals': 'none' },
    })
  }
  await passing(
    clock,
    waits,
    () => eventsOf(gateway, 'recovery.deferred'),
    (events) => events.length > 0,
  )
  await pass(gateway, clock, 3 * minute, waits)
  expect(pulsesOf(receiver)).toEqual([])
  expect(await eventsOf(gateway, 'recovery.deferred')).toHaveLength(1)
  const [wake] = await told.waitFor(1)
  expect(wake!.body).toMatchObject({
    eventType: 'wake/recovery_changed',
    payload: { agent: '@donna', change: 'deferred' },
  })
})

// S1-30, S1-42
test('an agent without a proven route has a pulse in the log, and one with a route is bypassed', async () => {
  const clock = new FakeClock()
  await using world = await silent(clock)
  const { gateway, lola, live, id } = world
  const erik = await gateway.addAgent('erik')
  const other = await beginSilent(gateway, erik)
  const both = () => Promise.all([live(), other.live()])
  await gateway.call('POST', '/v1/messages', { to: '@erik', subject: 'x' }, { key: lola.key })
  const pulses = async () => (await eventsOf(gateway, 'heartbeat.pulse')).filter(({ data }) => data.agent === '@erik')
  const [pulse] = await passing(clock, both, pulses, (found) => found.length > 0)
  expect(pulse).toMatchObject({ actor: '@gateway', data: { mode: 'heartbeat', reason: 'unread_mail', unread: 1 } })
  const { body } = await gateway.call('GET', '/v1/heartbeat')
  const of = (agent: string) => body.heartbeats.find((one: { agent: string }) => one.agent === agent)
  expect(of('@donna')).toMatchObject({
    bypassedBy: { subscriptionId: id, harnessTarget: 'a2a-webhook' },
    lastPulseAt: null,
  })
  expect(of('@erik')).toMatchObject({ bypassedBy: null, lastPulseAt: expect.any(String) })
  // No mail was made for it.
  const inbox = await gateway.call('GET', '/v1/inbox', undefined, { key: erik.key })
  expect(inbox.body.messages).toHaveLength(1)
})

// S1-42, S3-10, D53
test('an agent whose session timed out is nudged by its webhook once, and never past its gate', async () => {
  const clock = new FakeClock()
  await using world = await silent(clock)
  const { gateway, receiver, lola, sessionId } = world
  const timedOut = async () => (await gateway.call('GET', `/v1/sessions/${sessionId}`)).body.status
  await gateway.call('PATCH', '/v1/gate', { nudges: 'disabled' })
  await passing(clock, timedOut, timedOut, (status) => status === 'ended')
  for (let n = 0; n < 3; n++) {
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: lola.key })
    await pass(gateway, clock, 2 * minute)
  }
  expect(pulsesOf(receiver)).toEqual([])
  expect(await eventsOf(gateway, 'heartbeat.pulse')).toEqual([])
  await gateway.call('PATCH', '/v1/gate', { nudges: 'enabled' })
  await passing(
    clock,
    timedOut,
    async () => pulsesOf(receiver),
    (nudges) => nudges.length > 0,
  )
  // It leads to nothing, and more mail buys no other.
  for (let n = 0; n < 5; n++) {
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: lola.key })
    await pass(gateway, clock, 2 * minute)
  }
  expect(pulsesOf(receiver)).toHaveLength(1)
  expect((await gateway.call('GET', '/v1/gate?agent=donna')).body).toMatchObject({ nudges: 'enabled' })
})
