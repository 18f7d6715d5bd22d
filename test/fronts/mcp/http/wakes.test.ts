import { expect, test } from 'vitest'
import { FakeClock } from '../../../support/fake-clock.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../../../support/gateway.ts'
import { startReceiver } from '../../../support/receiver.ts'
import { until } from '../../../support/until.ts'
import { deliveriesOf, stateOf, untilStatus } from '../../../wakes/acts.ts'
import { connectOld } from './clients.ts'
import { beginSession, openStream, ping, post, type SessionReader } from './wire.ts'

const negotiated = { capabilities: { experimental: { 'neo-wake-substrate': { version: '1.0' } } } }

async function subscribe(gateway: TestGateway, agent: TestAgent, coalesceWindow = 0): Promise<string> {
  const request = {
    trigger: 'SENT_TO_ME',
    harnessTarget: 'mcp-notifications',
    harnessTargetMetadata: { coalesceWindow },
  }
  return (await gateway.call('POST', '/v1/wake-subscriptions', request, { key: agent.key })).body.subscriptionId
}

const wakesOf = ({ notifications }: SessionReader) =>
  notifications.filter(({ method }) => method === 'notifications/message').map(({ params }) => params.data)

/** Waits until the store has it that wakes were written: else they are sent again without a resync. */
const untilRecorded = (gateway: TestGateway, agent: TestAgent, id: string, logId: number) =>
  until(
    () => stateOf(gateway, agent, id),
    ({ lastEmittedLogId }) => lastEmittedLogId === logId,
  )

const untilWakes = (reader: SessionReader, count: number) =>
  until(
    () => wakesOf(reader),
    (wakes) => wakes.length >= count,
  )

// S1-4, S1-28, S1-44
test('a client that takes wakes subscribes over its session, and names no target', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const subscribing = { name: 'manage_wake_subscription', arguments: { action: 'subscribe', trigger: 'SENT_TO_ME' } }
  await using taker = await connectOld(gateway, donna, negotiated)
  expect((await taker.client.callTool(subscribing)).structuredContent).toMatchObject({
    subscriptionId: expect.stringMatching(/^WAKE_SUB:/),
    harnessTarget: 'mcp-notifications',
  })
  await using other = await connectOld(gateway, donna)
  expect((await other.client.callTool(subscribing)).structuredContent).toMatchObject({ harnessTarget: 'disabled' })
})

// S1-22, S1-23, S1-28, D14, D28
test('a wake is a log message of a session that negotiated it, and its record says no more than written', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  expect(await stateOf(gateway, donna, id)).toMatchObject({
    status: 'waiting',
    reason: 'no MCP session that takes these wakes is connected',
  })
  // Its surface is one that leaves mail to the wake.
  await gateway.call('POST', '/v1/sessions', { surface: 'claude_code' }, { key: donna.key })
  await using one = await connectOld(gateway, donna, negotiated)
  expect(one.client.getServerCapabilities()?.experimental?.['neo-wake-substrate']).toMatchObject({ version: '1.0' })
  await untilStatus(gateway, donna, id, 'active')
  const { body: sent } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Please review' })
  const [wake] = await until(
    () => one.logged,
    (all) => all.length > 0,
  )
  expect(wake).toMatchObject({ level: 'info', logger: 'neo-wake-substrate' })
  expect(wake!.data).toMatchObject({
    schemaVersion: '1.0',
    eventType: 'wake/sent_to_me',
    agentIdentity: '@donna',
    subscriptionId: id,
    payload: { messageId: sent.messageId, subject: 'Please review' },
  })
  const [delivery] = await until(
    () => deliveriesOf(gateway, { ...donna, key: gateway.adminKey }, id),
    (all) => all.length > 0,
  )
  expect(delivery).toMatchObject({ outcome: 'written', attempts: [{ status: null, error: null }] })
  // The mail itself waits on, and goes along with the next answer: nobody has read it.
  const { body } = await gateway.call('GET', '/v1/whoami', undefined, { key: donna.key })
  expect(body.pendingSignals).toHaveLength(1)
})

test('a session that did not negotiate gets none, and the subscription waits', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  const session = await beginSession(gateway, donna)
  await using stream = await openStream(gateway, donna, session)
  await gateway.send('donna', 'hello')
  expect(stream.status).toBe(200)
  expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'waiting' })
})

// S1-28
test.each([
  { version: '2.0' },
  {},
  { version: '1.0', supportedEvents: [] },
  { version: '1.0', supportedEvents: 'wake/sent_to_me' },
  { version: '1.0', supportedEvents: ['wake/unheard_of'] },
])('with %j nothing is agreed', async (asked) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await using one = await connectOld(gateway, donna, {
    capabilities: { experimental: { 'neo-wake-substrate': asked } },
  })
  expect(one.client.getServerCapabilities()?.experimental).toBeUndefined()
  const subscribing = { name: 'manage_wake_subscription', arguments: { action: 'subscribe', trigger: 'SENT_TO_ME' } }
  expect((await one.client.callTool(subscribing)).structuredContent).toMatchObject({ harnessTarget: 'disabled' })
})

// S1-28
test('a client gets the events that it supports, and another session of its agent the others', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const supportedEvents = ['wake/sent_to_me', 'wake/unheard_of']
  const asked = { capabilities: { experimental: { 'neo-wake-substrate': { version: '1.0', supportedEvents } } } }
  await using all = await openStream(gateway, donna, await beginSession(gateway, donna, negotiated))
  await using one = await connectOld(gateway, donna, asked)
  expect(one.client.getServerCapabilities()?.experimental?.['neo-wake-substrate']).toEqual({
    version: '1.0',
    supportedEvents: ['wake/sent_to_me'],
  })
  const subscribe = async (trigger: string) => {
    const args = { action: 'subscribe', trigger, harnessTargetMetadata: { coalesceWindow: 0 } }
    const { structuredContent } = await one.client.callTool({ name: 'manage_wake_subscription', arguments: args })
    return structuredContent as { subscriptionId: string; harnessTarget: string }
  }
  const mail = await subscribe('SENT_TO_ME')
  expect([mail.harnessTarget, (await subscribe('TASK_STATE_CHANGED')).harnessTarget]).toEqual([
    'mcp-notifications',
    'disabled',
  ])
  const harnessTargetMetadata = { coalesceWindow: 0 }
  const request = { trigger: 'TASK_STATE_CHANGED', harnessTarget: 'mcp-notifications', harnessTargetMetadata }
  const { body: tasks } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: donna.key })
  await untilStatus(gateway, donna, tasks.subscriptionId, 'active')
  await untilStatus(gateway, donna, mail.subscriptionId, 'active')
  const { id } = await gateway.send('donna', 'a task is mail too')
  const canceled = { to: 'canceled', expectedVersion: 1 }
  expect((await gateway.call('POST', `/v1/tasks/${id}/transitions`, canceled)).status).toBe(200)
  await untilWakes(all, 1)
  await until(
    () => one.logged,
    ({ length }) => length > 0,
  )
  expect(wakesOf(all).map(({ subscriptionId }) => subscriptionId)).toEqual([tasks.subscriptionId])
  expect(one.logged.map(({ data }) => data.subscriptionId)).toEqual([mail.subscriptionId])
})

test('a subscription that is made while the stream is open is connected to it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna, negotiated)
  await using stream = await openStream(gateway, donna, session)
  const id = await subscribe(gateway, donna)
  await untilStatus(gateway, donna, id, 'active')
  await gateway.send('donna', 'hello')
  expect((await untilWakes(stream, 1))[0]).toMatchObject({ subscriptionId: id })
  await stream[Symbol.asyncDispose]()
  await untilStatus(gateway, donna, id, 'waiting')
})

// D28, D29
test('what gathered without a stream is one digest, and the newest stream has the subscription', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  for (const text of ['one', 'two', 'three']) await gateway.send('donna', text)
  await using older = await openStream(gateway, donna, await beginSession(gateway, donna, negotiated))
  expect(await untilWakes(older, 1)).toMatchObject([{ eventType: 'wake/digest', payload: { eventCount: 3 } }])
  await using newer = await openStream(gateway, donna, await beginSession(gateway, donna, negotiated))
  // Until it is connected the older one gets what comes.
  await until(
    async () => {
      await gateway.send('donna', 'more')
      return wakesOf(newer)
    },
    ({ length }) => length > 0,
  )
  const before = wakesOf(older).length
  await gateway.send('donna', 'the newer one has it')
  await untilWakes(newer, 2)
  expect(wakesOf(older)).toHaveLength(before)
  await newer[Symbol.asyncDispose]()
  // The older stream is still there, and gets it back.
  await untilStatus(gateway, donna, id, 'active')
  await gateway.send('donna', 'the older one has it again')
  await untilWakes(older, before + 1)
})

// S1-29
test('what a reader did not get is sent again when it comes back, and nothing else', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  const session = await beginSession(gateway, donna, negotiated)
  const first = await openStream(gateway, donna, session)
  await untilStatus(gateway, donna, id, 'active')
  for (const text of ['one', 'two', 'three']) await gateway.send('donna', text)
  const wakes = await untilWakes(first, 3)
  await untilRecorded(gateway, donna, id, wakes.at(-1)!.logId)
  await first[Symbol.asyncDispose]()
  const seen = first.notifications[0]!.id
  await using second = await openStream(gateway, donna, { ...session, 'last-event-id': seen })
  const again = (await untilWakes(second, 1)).flatMap(({ payload, logId }) => payload.refs ?? [{ logId }])
  expect(again.map(({ logId }: { logId: number }) => logId)).toEqual(wakes.slice(1).map(({ logId }) => logId))
  const [record] = (await gateway.call('GET', '/v1/audit?operation=subscription.resync')).body.records
  expect(record).toMatchObject({ actor: '@donna', target: id, front: 'mcp', outcome: 'ok' })
  const { lastId } = second
  await second[Symbol.asyncDispose]()
  await untilStatus(gateway, donna, id, 'waiting')
  await using third = await openStream(gateway, donna, { ...session, 'last-event-id': lastId })
  await untilStatus(gateway, donna, id, 'active')
  await gateway.send('donna', 'four')
  expect(await untilWakes(third, 1)).toMatchObject([{ eventType: 'wake/sent_to_me' }])
})

// S1-29
test('a stream that has read 120 subscriptions, one after the other, keeps its position', async () => {
  await using gateway = await startGateway()
  await liftRates(gateway)
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna, negotiated)
  const first = await openStream(gateway, donna, session)
  const kept = await subscribe(gateway, donna)
  await untilStatus(gateway, donna, kept, 'active')
  await gateway.send('donna', 'first')
  await untilWakes(first, 1)
  for (let count = 0; count < 119; count++) {
    const id = await subscribe(gateway, donna)
    await untilStatus(gateway, donna, id, 'active')
    await gateway.call('DELETE', `/v1/wake-subscriptions/${id}`, undefined, donna)
  }
  const seen = first.lastId
  expect(seen.split('.').length).toBeLessThanOrEqual(51)
  for (const text of ['second', 'third']) await gateway.send('donna', text)
  const ofKept = (reader: SessionReader) => wakesOf(reader).filter(({ subscriptionId }) => subscriptionId === kept)
  const wakes = await until(
    () => ofKept(first),
    ({ length }) => length >= 3,
  )
  await untilRecorded(gateway, donna, kept, wakes.at(-1)!.logId)
  await first[Symbol.asyncDispose]()
  await untilStatus(gateway, donna, kept, 'waiting')
  await using second = await openStream(gateway, donna, { ...session, 'last-event-id': seen })
  const again = (
    await until(
      () => ofKept(second),
      ({ length }) => length > 0,
    )
  ).flatMap(({ payload, logId }) => payload.refs ?? [{ logId }])
  expect(again.map(({ logId }: { logId: number }) => logId)).toEqual(wakes.slice(1).map(({ logId }) => logId))
})

test('a stream reads as many subscriptions as it may, and another one when it has room', async () => {
  await using gateway = await startGateway()
  await liftRates(gateway)
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna, negotiated)
  await using _stream = await openStream(gateway, donna, session)
  const ids: string[] = []
  for (let count = 0; count < 51; count++) ids.push(await subscribe(gateway, donna))
  const asOperator = { ...donna, key: gateway.adminKey }
  for (const id of ids.slice(0, 50)) await untilStatus(gateway, asOperator, id, 'active')
  expect(await stateOf(gateway, asOperator, ids[50]!)).toMatchObject({ status: 'waiting' })
  await gateway.call('DELETE', `/v1/wake-subscriptions/${ids[7]}`, undefined, donna)
  await untilStatus(gateway, asOperator, ids[50]!, 'active')
})

const limit = (gateway: TestGateway, limits: Record<string, number>) =>
  gateway.call('PATCH', '/v1/projects/default', { limits })

/** The `logId`s of everything that a reader was woken for, also in digests. */
const heard = (reader: SessionReader): number[] =>
  wakesOf(reader).flatMap(({ payload, logId }) => payload.refs?.map((ref: { logId: number }) => ref.logId) ?? [logId])

const inOrder = (logIds: readonly number[]): number[] => [...logIds].sort((a, b) => a - b)

/** Moves the time on until what is read is as wanted. */
function eventually<Value>(clock: FakeClock, read: () => Value, isDone: (value: Value) => boolean): Promise<Value> {
  return until(() => {
    clock.advance(1_000)
    return read()
  }, isDone)
}

/** A reader that got the first of three wakes of each subscription, and is away. */
async function donnaMissed(clock: FakeClock, subscriptions: number) {
  const gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const ids: string[] = []
  for (let count = 0; count < subscriptions; count++) ids.push(await subscribe(gateway, donna))
  const session = await beginSession(gateway, donna, negotiated)
  const first = await openStream(gateway, donna, session)
  for (const id of ids) await untilStatus(gateway, donna, id, 'active')
  await gateway.send('donna', 'one')
  await untilWakes(first, subscriptions)
  const seen = first.lastId
  for (const text of ['two', 'three']) await gateway.send('donna', text)
  await untilWakes(first, 3 * subscriptions)
  const [one] = inOrder(heard(first))
  const missed = inOrder(heard(first)).filter((logId) => logId > one!)
  for (const id of ids) await untilRecorded(gateway, donna, id, missed.at(-1)!)
  await first[Symbol.asyncDispose]()
  const back = (lastId = seen) => openStream(gateway, donna, { ...session, 'last-event-id': lastId })
  return { gateway, donna, session, seen, missed, back, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

test('each subscription that is sent again counts as a resync, as over REST', async () => {
  const clock = new FakeClock()
  await using s = await donnaMissed(clock, 3)
  await limit(s.gateway, { heavyPerMinute: 4 })
  await using reader = await s.back()
  await until(
    () => heard(reader),
    (logIds) => logIds.length === s.missed.length,
  )
  const [{ subscriptionId }] = wakesOf(reader)
  const resync = () =>
    s.gateway.call('POST', `/v1/wake-subscriptions/${subscriptionId}/resync`, { sinceLogId: 0 }, s.donna)
  expect((await resync()).status).toBe(200)
  expect((await resync()).body).toMatchObject({ code: 'rate-limited', limitName: 'heavyPerMinute' })
})

// S1-29
test('a reader that comes back too often gets what it missed when its rate has room, and loses nothing meanwhile', async () => {
  const clock = new FakeClock()
  await using s = await donnaMissed(clock, 3)
  await limit(s.gateway, { heavyPerMinute: 1 })
  await using once = await s.back()
  await until(
    () => heard(once),
    (logIds) => logIds.length === s.missed.length,
  )
  await once[Symbol.asyncDispose]()
  // It has forgotten what it got, and the rate is used up.
  await using again = await s.back()
  expect(again.status).toBe(200)
  await until(
    () => again.lastId,
    (id) => id !== '',
  )
  expect([wakesOf(again).length, again.hasEnded]).toEqual([0, false])
  // The stream stays. A client that leaves it comes back to where it was.
  await again[Symbol.asyncDispose]()
  await using last = await s.back(again.lastId)
  await s.gateway.send('donna', 'four')
  const logIds = await eventually(
    clock,
    () => heard(last),
    ({ length }) => length >= s.missed.length + 3,
  )
  expect(inOrder(logIds).slice(0, s.missed.length)).toEqual(s.missed)
})

test('a rate that is less than what was missed lets it through, once the whole of it is there', async () => {
  const clock = new FakeClock()
  await using s = await donnaMissed(clock, 3)
  await limit(s.gateway, { heavyPerMinute: 1 })
  await using reader = await s.back()
  await until(
    () => heard(reader),
    (logIds) => logIds.length === s.missed.length,
  )
  expect(inOrder(heard(reader))).toEqual(s.missed)
})

test('an event beside the wakes says nothing about wakes that wait for their rate', async () => {
  const clock = new FakeClock()
  await using s = await donnaMissed(clock, 2)
  await limit(s.gateway, { heavyPerMinute: 1 })
  await using first = await s.back()
  await until(
    () => heard(first),
    ({ length }) => length === s.missed.length,
  )
  await first[Symbol.asyncDispose]()
  const resources = { ...ping, method: 'resources/subscribe', params: { uri: 'rouse://inbox/@donna' } }
  await post(s.gateway, s.donna, resources, s.session)
  const waiting = await s.back()
  await s.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'look' })
  await until(
    () => waiting.notifications,
    (all) => all.some(({ method }) => method === 'notifications/resources/updated'),
  )
  expect(wakesOf(waiting)).toEqual([])
  await waiting[Symbol.asyncDispose]()
  await using last = await s.back(waiting.lastId)
  const logIds = await eventually(
    clock,
    () => heard(last),
    ({ length }) => length >= s.missed.length,
  )
  expect(logIds).toEqual(expect.arrayContaining(s.missed))
})

test('a stream of a session counts once more for five subscriptions; without room for that its wakes come later', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const ids: string[] = []
  for (let count = 0; count < 10; count++) ids.push(await subscribe(gateway, donna))
  const session = await beginSession(gateway, donna, negotiated)
  await limit(gateway, { requestsPerMinute: 6 })
  clock.advance(600_000)
  const asOperator = { ...donna, key: gateway.adminKey }
  const first = await openStream(gateway, donna, session)
  await untilStatus(gateway, asOperator, ids[0]!, 'active')
  await first[Symbol.asyncDispose]()
  await untilStatus(gateway, asOperator, ids[0]!, 'waiting')
  // It has taken three of six. The next one has two further requests to count, and room for one.
  expect((await post(gateway, donna, ping, session)).status).toBe(200)
  await using second = await openStream(gateway, donna, session)
  expect(second.status).toBe(200)
  await gateway.send('donna', 'hello')
  await until(
    () => second.lastId,
    (id) => id !== '',
  )
  expect(await stateOf(gateway, asOperator, ids[0]!)).toMatchObject({ status: 'waiting' })
  const wakes = await eventually(
    clock,
    () => wakesOf(second),
    ({ length }) => length >= ids.length,
  )
  expect(new Set(wakes.map(({ subscriptionId }) => subscriptionId))).toEqual(new Set(ids))
})

test('a level above info ends the wakes of a session, and info brings them back', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  const session = await beginSession(gateway, donna, negotiated)
  await using stream = await openStream(gateway, donna, session)
  await untilStatus(gateway, donna, id, 'active')
  const setLevel = (level: string) =>
    post(gateway, donna, { ...ping, method: 'logging/setLevel', params: { level } }, session)
  await setLevel('error')
  await untilStatus(gateway, donna, id, 'waiting')
  // A session is connected, and takes none.
  expect((await stateOf(gateway, donna, id)).reason).toBe('no MCP session that takes these wakes is connected')
  await setLevel('info')
  await untilStatus(gateway, donna, id, 'active')
  expect(stream.hasEnded).toBe(false)
})

test('a test wake is written too, and refused without a session', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  const testIt = () => gateway.call('POST', `/v1/wake-subscriptions/${id}/test`, undefined, { key: donna.key })
  expect((await testIt()).status).toBe(400)
  await using stream = await openStream(gateway, donna, await beginSession(gateway, donna, negotiated))
  await untilStatus(gateway, donna, id, 'active')
  expect((await testIt()).body.attempt).toMatchObject({ error: null })
  expect(await untilWakes(stream, 1)).toMatchObject([{ eventType: 'wake/test' }])
})

// S1-4, S1-7
test('a session reads its routes: a notification is not preferred until its reader has reported an act', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  const { body: started } = await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key: donna.key })
  await using stream = await openStream(gateway, donna, await beginSession(gateway, donna, negotiated))
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'hello' })
  const [wake] = await untilWakes(stream, 1)
  const routes = async () =>
    (await gateway.call('GET', `/v1/sessions/${started.sessionId}`, undefined, { key: donna.key })).body
  const written = await until(routes, ({ routes }) => routes.some(({ proved }: { proved: unknown }) => proved !== null))
  expect(written.preferred).toBe('a2a-webhook')
  expect(written.routes).toContainEqual({
    subscriptionId: id,
    harnessTarget: 'mcp-notifications',
    open: true,
    proved: 'written',
  })
  const receipt = [{ eventId: wake!.eventId, step: 'acked' }]
  const { body } = await gateway.call('POST', '/v1/wake-stream/receipts', receipt, { key: donna.key })
  expect(body.receipts).toEqual([{ eventId: wake!.eventId, outcome: 'written' }])
  expect((await routes()).preferred).toBe('mcp-notifications')
})

// S1-4, S1-7, D14
test('a webhook beside a notification gets the event too, each once, and each says no more than it knows', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const noticed = await subscribe(gateway, donna)
  const { id: posted } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key: donna.key })
  await using stream = await openStream(gateway, donna, await beginSession(gateway, donna, negotiated))
  await untilStatus(gateway, donna, noticed, 'active')
  for (const count of [1, 2]) {
    const { body: sent } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'hello' })
    const wake = (await untilWakes(stream, count)).at(-1)!
    expect((await receiver.waitFor(count)).at(-1)!.body).toMatchObject({ payload: { messageId: sent.messageId } })
    expect(wake).toMatchObject({ payload: { messageId: sent.messageId } })
    // From here on the notification is a proven route, and preferred.
    await gateway.call('POST', '/v1/wake-stream/receipts', [{ eventId: wake.eventId, step: 'acked' }], {
      key: donna.key,
    })
  }
  const outcomes = async (id: string) => (await deliveriesOf(gateway, donna, id)).map(({ outcome }) => outcome)
  await until(
    () => outcomes(posted),
    (all) => all.length === 2,
  )
  expect([await outcomes(noticed), await outcomes(posted)]).toEqual([
    ['written', 'written'],
    ['delivered', 'delivered'],
  ])
  expect([wakesOf(stream).length, receiver.wakes.length]).toEqual([2, 2])
})
