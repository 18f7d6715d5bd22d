import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { SetClock } from '../support/set-clock.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { advanceUntil } from '../wakes/acts.ts'

const hour = 3_600_000

/** An agent whose wakes come by a stream, with a reader of it. */
async function streaming(gateway: TestGateway, donna: TestAgent) {
  const { body } = await gateway.call(
    'POST',
    '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } },
    { key: donna.key },
  )
  const id = body.subscriptionId as string
  return { id, reader: await readWakes(gateway, donna, [id]) }
}

const ask = async (gateway: TestGateway, { key }: TestAgent, eventId: string, route = 'exec') =>
  (await gateway.call('POST', '/v1/turns', { eventId, route }, { key })).body

const turnsOf = async (gateway: TestGateway, query = '?agent=donna') =>
  (await gateway.call('GET', `/v1/turns${query}`)).body.turns

const cappedOf = async (gateway: TestGateway, key?: string) =>
  (await gateway.call('GET', '/v1/needs?kind=capped', undefined, key === undefined ? {} : { key })).body.needs

async function mail(gateway: TestGateway, { key }: TestAgent, subject: string, fields: object = {}) {
  return (await gateway.call('POST', '/v1/messages', { to: '@donna', subject, ...fields }, { key })).body
}

// D53
test('a program asks before it begins a turn; the account has it, whatever its end', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const { id, reader } = await streaming(gateway, donna)
  await using _ = reader
  const { threadId } = await mail(gateway, lola, 'x')
  const [wake] = await reader.waitFor(1)
  const answer = await ask(gateway, donna, wake!.eventId)
  expect(answer).toEqual({ answer: 'start', turnId: expect.any(String), rule: null, why: null, cap: null, until: null })
  const about = { agent: '@donna', act: 'run', route: 'exec', subscriptionId: id, eventId: wake!.eventId }
  expect(await turnsOf(gateway)).toMatchObject([{ ...about, senders: ['@lola'], threadId, outcome: null }])
  const cost = { model: 'some-model', inputTokens: 12_000, outputTokens: 300 }
  const end = { outcome: 'held', detail: 'usage limit', cost }
  const ended = await gateway.call('POST', `/v1/turns/${answer.turnId}/end`, end, { key: donna.key })
  expect(ended.body).toEqual({ turnId: answer.turnId, outcome: 'held' })
  // The same wake again is another turn: a process has run each time.
  await ask(gateway, donna, wake!.eventId)
  expect(await turnsOf(gateway)).toMatchObject([{ outcome: null }, { outcome: 'held', detail: 'usage limit', cost }])
  const other = await gateway.call('POST', `/v1/turns/${answer.turnId}/end`, end, { key: lola.key })
  expect([other.status, other.body.code]).toEqual([404, 'turn-not-found'])
  expect((await gateway.call('GET', '/v1/turns?agent=donna', undefined, { key: lola.key })).status).toBe(403)
  expect((await gateway.call('GET', '/v1/turns', undefined, { key: lola.key })).body.turns).toEqual([])
})

test('what a webhook has taken is in the account too', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata: { coalesceWindow: 0 } })
  await mail(gateway, lola, 'x')
  const [turn] = await until(
    () => turnsOf(gateway, ''),
    (turns) => turns.length > 0,
  )
  expect(turn).toMatchObject({
    agent: '@donna',
    act: 'wake',
    route: 'a2a-webhook',
    senders: ['@lola'],
    outcome: 'unknown',
  })
  expect(turn.turnId).toBe(receiver.wakes[0]!.body.eventId)
})

test('two programs of an agent begin one turn for one mail; the second may when the first has failed', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const first = await streaming(gateway, donna)
  const second = await streaming(gateway, donna)
  await using _ = first.reader
  await using __ = second.reader
  await mail(gateway, lola, 'x')
  const [[one], [other]] = await Promise.all([first.reader.waitFor(1), second.reader.waitFor(1)])
  const answers = await Promise.all([ask(gateway, donna, one!.eventId), ask(gateway, donna, other!.eventId)])
  expect(answers.map(({ answer }) => answer).sort()).toEqual(['never', 'start'])
  const [begun] = answers.filter(({ answer }) => answer === 'start')
  await gateway.call('POST', `/v1/turns/${begun!.turnId}/end`, { outcome: 'failed' }, { key: donna.key })
  const refused = answers[0]!.answer === 'never' ? one! : other!
  expect(await ask(gateway, donna, refused.eventId)).toMatchObject({ answer: 'start' })
})

test('two agents that answer each other end at the cap, and others still have their turns', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const maria = await gateway.addAgent('maria')
  await gateway.call('PATCH', '/v1/gate', { agent: '@donna', settings: { senderTurnsPerHour: 3, turnsPerHour: 5 } })
  const { reader } = await streaming(gateway, donna)
  await using _ = reader
  const next = async (from: TestAgent, subject: string) => {
    const count = reader.wakes.length
    await mail(gateway, from, subject)
    clock.advance(1)
    const { eventId } = (await reader.waitFor(count + 1))[count]!
    await reader.report(eventId, 'delivered')
    return eventId
  }
  for (let n = 1; n <= 3; n++) expect((await ask(gateway, donna, await next(lola, `ping ${n}`))).answer).toBe('start')
  const withheld = await ask(gateway, donna, await next(lola, 'ping 4'))
  expect(withheld).toMatchObject({ answer: 'withhold', rule: 'turn_cap', cap: 'sender', turnId: null })
  await ask(gateway, donna, await next(lola, 'ping 5'))
  expect((await ask(gateway, donna, await next(maria, 'honest'))).answer).toBe('start')
  const outcomes = (await turnsOf(gateway)).map(({ outcome }: { outcome: string | null }) => outcome)
  expect(outcomes).toEqual([null, 'withheld', null, null, null])
  const text = 'It has had as many turns for @lola as the gate allows. The rest waits, and goes as one digest.'
  expect(await cappedOf(gateway)).toMatchObject([{ agent: '@donna', until: withheld.until, text }])
  expect(await cappedOf(gateway, donna.key)).toHaveLength(1)
  expect(await cappedOf(gateway, lola.key)).toEqual([])
  clock.advance(Date.parse(withheld.until) - clock.now())
  expect((await ask(gateway, donna, await next(lola, 'later'))).answer).toBe('start')
  expect(await cappedOf(gateway)).toEqual([])
})

test('a program that is started for each wake has a cap of an hour where nobody has set one; an operator asks for an agent', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const asked = { eventId: '01J00000000000000000000000', route: 'exec', agent: '@donna' }
  const begin = async (body: object) => (await gateway.call('POST', '/v1/turns', body)).body
  for (let n = 1; n <= 60; n++) expect((await begin(asked)).answer).toBe('start')
  expect(await begin(asked)).toMatchObject({ answer: 'withhold', rule: 'turn_cap', cap: 'agent' })
  expect((await begin({ ...asked, route: 'codex' })).answer).toBe('start')
  expect(await begin({ ...asked, agent: undefined })).toMatchObject({ code: 'invalid-request', field: 'agent' })
  const { turnId } = (await turnsOf(gateway))[0]
  const end = { outcome: 'completed', agent: '@donna' }
  expect((await gateway.call('POST', `/v1/turns/${turnId}/end`, end)).status).toBe(200)
  // Another cap is asked at once: a person has decided.
  await gateway.call('PATCH', '/v1/gate', { agent: '@donna', settings: { turnsPerHour: 100 } })
  expect(await cappedOf(gateway)).toEqual([])
  expect((await ask(gateway, donna, asked.eventId)).answer).toBe('start')
})

test('a turn counts for a gateway whose clock is a little behind that of the one that has booked it', async () => {
  const clock = new SetClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  await gateway.call('PATCH', '/v1/gate', { agent: '@donna', settings: { turnsPerHour: 1 } })
  expect((await ask(gateway, donna, '01J00000000000000000000000')).answer).toBe('start')
  clock.set(-1_000)
  expect(await ask(gateway, donna, '01J00000000000000000000001')).toMatchObject({ rule: 'turn_cap', cap: 'agent' })
})

// D50
test('a parked agent begins no turn', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const reset = new Date(clock.now() + hour).toISOString()
  await gateway.call('PUT', '/v1/parked', { until: reset, reason: 'usage-limit' }, { key: donna.key })
  const answer = await ask(gateway, donna, '01J00000000000000000000000')
  expect(answer).toMatchObject({ answer: 'wait', rule: 'usage_limit', until: reset })
})

test('what a cap withholds from a webhook comes as one digest when the hour is over', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await gateway.call('PATCH', '/v1/gate', { agent: '@donna', settings: { turnsPerHour: 2 } })
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata: { coalesceWindow: 0 } })
  const begun = clock.now()
  for (let n = 1; n <= 2; n++) {
    await mail(gateway, lola, `mail ${n}`)
    await receiver.waitFor(n)
  }
  for (let n = 3; n <= 5; n++) await mail(gateway, lola, `mail ${n}`)
  await advanceUntil(
    clock,
    10_000,
    async () => receiver.wakes.length,
    (count) => count > 2,
  )
  expect(clock.now() - begun).toBeGreaterThanOrEqual(hour)
  expect(receiver.wakes[2]!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 3 } })
})

test('a cap that is raised lets what it withheld from a webhook go at once', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const capped = (turnsPerDay: number) =>
    gateway.call('PATCH', '/v1/gate', { agent: '@donna', settings: { turnsPerDay } })
  await capped(1)
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata: { coalesceWindow: 0 } })
  await mail(gateway, lola, 'mail 1')
  await receiver.waitFor(1)
  await mail(gateway, lola, 'mail 2')
  const [need] = await until(
    () => cappedOf(gateway),
    (needs) => needs.length > 0,
  )
  expect(need).toMatchObject({ agent: '@donna', until: expect.any(String) })
  const [turn] = await turnsOf(gateway)
  expect(turn).toMatchObject({ act: 'wake', outcome: 'withheld', detail: 'agent', endedAt: need.until })
  await capped(5)
  await receiver.waitFor(2)
  expect(receiver.wakes[1]!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 1 } })
  expect(await cappedOf(gateway)).toEqual([])
})
