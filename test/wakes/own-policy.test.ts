import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const heldOf = async (gateway: TestGateway, agent: TestAgent, id: string) =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}/held`, undefined, agent)).body.held.map(
    ({ reason }: { reason: string }) => reason,
  )
const statesOf = (receiver: Receiver) => receiver.wakes.map(({ body }) => body.payload.newState)

/** An originator that is silent by default, an assignee that wants the next turn, both listening to their tasks. */
async function startPair(boss: string, donna: string) {
  const gateway = await startGateway()
  const agents = {
    boss: await gateway.addAgent('boss', { defaultWakePolicy: boss }),
    donna: await gateway.addAgent('donna', { defaultWakePolicy: donna }),
  }
  const receivers = { boss: await startReceiver(), donna: await startReceiver() }
  const subs = {
    boss: (await gateway.subscribe(agents.boss, receivers.boss.url)).id,
    donna: (await gateway.subscribe(agents.donna, receivers.donna.url)).id,
  }
  const stop = async () => {
    await gateway[Symbol.asyncDispose]()
    await receivers.boss[Symbol.asyncDispose]()
    await receivers.donna[Symbol.asyncDispose]()
  }
  return { gateway, agents, receivers, subs, [Symbol.asyncDispose]: stop }
}

// D20
test('each party’s own default decides about a change of their task, and what it holds is listed', async () => {
  await using pair = await startPair('silent', 'immediate')
  const { gateway, agents, receivers, subs } = pair
  const { id } = await gateway.send('donna', 'hello', { key: agents.boss.key })
  await receivers.donna.waitFor(1)
  await gateway.move(agents.donna, id, 'working')
  await gateway.move(agents.donna, id, 'completed', { wakePolicy: 'immediate' })
  expect(statesOf({ ...receivers.boss, wakes: await receivers.boss.waitFor(1) })).toEqual(['Completed'])
  expect(await heldOf(gateway, agents.boss, subs.boss)).toEqual(['silent', 'own_act'])
})

// D20
test('an assignee that waits for its next turn holds its own wakes, not those of the originator', async () => {
  await using pair = await startPair('immediate', 'next_turn')
  const { gateway, agents, receivers, subs } = pair
  const { id } = await gateway.send('donna', 'hello', { key: agents.boss.key })
  await gateway.move(agents.donna, id, 'input-required', { message: 'which?' })
  expect(statesOf({ ...receivers.boss, wakes: await receivers.boss.waitFor(1) })).toEqual(['InputRequired'])
  const metadata = { wakePolicy: 'immediate' }
  await gateway.send('donna', 'that one', { key: agents.boss.key, message: { taskId: id, metadata } })
  const [woken] = await receivers.donna.waitFor(1)
  expect(woken!.body.payload).toMatchObject({ previousState: 'InputRequired', newState: 'Submitted' })
  expect(await heldOf(gateway, agents.donna, subs.donna)).toEqual(['own_act', 'next_turn'])
})

// D20, S1-15
test('a transition may be quiet for everybody, and another policy is refused', async () => {
  await using pair = await startPair('immediate', 'immediate')
  const { gateway, agents, receivers, subs } = pair
  const { id } = await gateway.send('donna', 'hello', { key: agents.boss.key })
  await gateway.move(agents.donna, id, 'working', { wakePolicy: 'silent', message: 'a progress note' })
  const refused = await gateway.move(agents.donna, id, 'completed', { wakePolicy: 'at_dawn' })
  expect(refused.body).toMatchObject({ status: 400, field: 'wakePolicy' })
  await gateway.move(agents.donna, id, 'completed')
  expect(statesOf({ ...receivers.boss, wakes: await receivers.boss.waitFor(1) })).toEqual(['Completed'])
  expect(await heldOf(gateway, agents.boss, subs.boss)).toEqual(['silent', 'own_act'])
})

// D20
test('the metadata of CancelTask may carry the policy', async () => {
  await using pair = await startPair('immediate', 'immediate')
  const { gateway, agents, subs } = pair
  const { id } = await gateway.send('donna', 'hello', { key: agents.boss.key })
  const body = { jsonrpc: '2.0', id: 1, method: 'CancelTask', params: { id, metadata: { wakePolicy: 'next_turn' } } }
  const headers = { 'A2A-Version': '1.0' }
  const { body: canceled } = await gateway.call('POST', '/agents/donna', body, { key: agents.boss.key, headers })
  expect(canceled.result.status.state).toBe('TASK_STATE_CANCELED')
  expect(await heldOf(gateway, agents.donna, subs.donna)).toEqual(['next_turn'])
})

// D20: for every trigger
test('grants and the status of sent mail follow the default of who is notified', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const boss = await gateway.addAgent('boss', { defaultWakePolicy: 'silent' })
  const donna = await gateway.addAgent('donna')
  const grants = await gateway.subscribe(boss, receiver.url, { trigger: 'PERMISSION_GRANTED' })
  const statuses = await gateway.subscribe(boss, receiver.url, { trigger: 'MESSAGE_STATUS_CHANGED' })
  await gateway.call('POST', '/v1/permissions', { grantee: '@boss', scope: 'CAN_READ_INBOX_OF' }, donna)
  const { body: sent } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, boss)
  await gateway.call('POST', `/v1/messages/${sent.messageId}/status`, { status: 'acked' }, donna)
  expect([await heldOf(gateway, boss, grants.id), await heldOf(gateway, boss, statuses.id)]).toEqual([
    ['silent'],
    ['silent'],
  ])
  await gateway.call('PATCH', '/v1/agents/boss', { defaultWakePolicy: 'immediate' }, boss)
  await gateway.call('POST', `/v1/messages/${sent.messageId}/status`, { status: 'resolved' }, donna)
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.payload).toMatchObject({ messageId: sent.messageId, status: 'resolved' })
  const { body } = await gateway.call('GET', '/v1/events', undefined, boss)
  expect(body.events.length).toBeGreaterThan(2)
  for (const { data } of body.events) expect(data.routing).toBeUndefined()
})

// D20
test('what a later default would hold is sent as it was decided, also when it is sent again', async () => {
  await using pair = await startPair('silent', 'immediate')
  const { gateway, agents, receivers, subs } = pair
  const { id } = await gateway.send('donna', 'hello', { key: agents.boss.key })
  await gateway.move(agents.donna, id, 'working')
  await gateway.call('PATCH', '/v1/agents/boss', { defaultWakePolicy: 'immediate' }, agents.boss)
  await gateway.move(agents.donna, id, 'completed')
  await receivers.boss.waitFor(1)
  const resync = `/v1/wake-subscriptions/${subs.boss}/resync`
  const { body } = await gateway.call('POST', resync, { sinceLogId: 0 }, agents.boss)
  expect(body.eventsReplayed).toBe(1)
  expect(statesOf({ ...receivers.boss, wakes: await receivers.boss.waitFor(2) })).toEqual(['Completed', 'Completed'])
})
