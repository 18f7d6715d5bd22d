import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { advanceUntil, deliveriesOf, patch, stateOf, untilStatus } from './acts.ts'

const send = async (gateway: TestGateway, subject: string) =>
  (await gateway.call('POST', '/v1/messages', { to: '@donna', subject })).body.messageId
const start = async (gateway: TestGateway, agent: TestAgent, fields: object = {}) =>
  (await gateway.call('POST', '/v1/sessions', { surface: 'codex', ...fields }, agent)).body
const heldOf = async (gateway: TestGateway, agent: TestAgent, id: string) =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}/held`, undefined, agent)).body.held
const outcomesOf = async (gateway: TestGateway, agent: TestAgent, id: string) =>
  (await deliveriesOf(gateway, agent, id)).map(({ logIds, outcome }) => [logIds, outcome])
const window = (coalesceWindow: number) => ({
  trigger: 'SENT_TO_ME',
  harnessTargetMetadata: { coalesceWindow, coalesceMode: 'window' },
})
/** Waits until a subscription has looked at the whole log. */
const untilIdle = async (gateway: TestGateway, agent: TestAgent, id: string, clock: FakeClock) => {
  const { body } = await gateway.call('GET', '/v1/events?since=0&limit=1000')
  const newest = body.events.filter(({ type }: { type: string }) => type === 'message.sent').at(-1).logId
  await advanceUntil(
    clock,
    250,
    () => stateOf(gateway, agent, id),
    ({ cursorLogId }) => cursorLogId >= newest,
  )
}

// D38
test('mail in an open window that a session’s start has answered is sent by no digest, and held says so', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, window(30))
  const messageId = await send(gateway, 'hello')
  const { pendingSignals } = await start(gateway, donna)
  expect(pendingSignals).toMatchObject([{ signal_id: messageId }])
  await untilIdle(gateway, donna, id, clock)
  expect(await heldOf(gateway, donna, id)).toMatchObject([{ action: 'skip', reason: 'already_in_hand', messageId }])
  expect(await outcomesOf(gateway, donna, id)).toEqual([])
  expect(receiver.wakes).toEqual([])
})

// D38, D30
test.each(['paused', 'degraded'])(
  'what a %s subscription would recover and the start answered is not sent again',
  async (status) => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock } })
    await using receiver = await startReceiver(status === 'degraded' ? 410 : 200)
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.subscribe(donna, receiver.url, window(0))
    if (status === 'paused') await patch(gateway, donna, id, { status })
    const messageIds = [await send(gateway, 'one')]
    if (status === 'degraded') await untilStatus(gateway, donna, id, status, clock)
    messageIds.push(await send(gateway, 'two'))
    const refused = receiver.wakes.length
    expect((await start(gateway, donna)).pendingSignals).toHaveLength(2)
    if (status === 'paused') await patch(gateway, donna, id, { status: 'active' })
    await untilIdle(gateway, donna, id, clock)
    expect(await heldOf(gateway, donna, id)).toMatchObject([
      { reason: 'already_in_hand', messageId: messageIds[1] },
      { reason: 'already_in_hand', messageId: messageIds[0] },
    ])
    expect(receiver.wakes.length).toBe(refused)
  },
)

// D29, D38
test('the digest after a start has what the start left, with the reason, also after the cursor', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, window(30))
  await send(gateway, 'one')
  expect((await start(gateway, donna, { drain: false })).pendingSignals).toEqual([])
  await advanceUntil(
    clock,
    250,
    () => receiver.wakes.length,
    (count) => count === 1,
  )
  expect(receiver.wakes[0]!.body).toMatchObject({
    eventType: 'wake/digest',
    payload: { reason: 'waiting', eventCount: 1 },
  })
  await untilIdle(gateway, donna, id, clock)
  expect(await heldOf(gateway, donna, id)).toEqual([])
})

// D29
test('mail that a session took and left unread waits for the next session', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, window(30))
  const messageId = await send(gateway, 'one')
  const { sessionId, pendingSignals } = await start(gateway, donna)
  expect(pendingSignals).toHaveLength(1)
  await untilIdle(gateway, donna, id, clock)
  clock.advance(1_000)
  await gateway.call('DELETE', `/v1/sessions/${sessionId}`, undefined, donna)
  clock.advance(1_000)
  expect((await start(gateway, donna)).pendingSignals).toEqual([])
  await advanceUntil(
    clock,
    250,
    () => receiver.wakes.length,
    (count) => count === 1,
  )
  expect(receiver.wakes[0]!.body.payload).toMatchObject({ reason: 'waiting', refs: [{ messageId }] })
  // It was sent in the end.
  await until(
    () => outcomesOf(gateway, donna, id),
    ([delivery]) => delivery?.[1] === 'delivered',
  )
  expect(await heldOf(gateway, donna, id)).toEqual([])
})

// D27, D38
test('a wake on its way when the session starts arrives, and is not held', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const answers: ServerResponse[] = []
  await using receiver = await startReceiver((_wake, res) => answers.push(res))
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, window(0))
  const messageId = await send(gateway, 'hello')
  await receiver.waitFor(1)
  clock.advance(100)
  expect((await start(gateway, donna)).pendingSignals).toMatchObject([{ signal_id: messageId }])
  answers[0]!.end()
  await advanceUntil(
    clock,
    500,
    () => outcomesOf(gateway, donna, id),
    ([delivery]) => delivery?.[1] === 'delivered',
  )
  expect(await heldOf(gateway, donna, id)).toEqual([])
})
