import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

const grant = (gateway: TestGateway, from: TestAgent, grantee: string, scope: string) =>
  gateway.call('POST', '/v1/permissions', { grantee, scope }, from)
const subscriptionsOf = (gateway: TestGateway, agent: TestAgent, query = '') =>
  gateway.call('GET', `/v1/wake-subscriptions${query}`, undefined, agent)

// S1-26
test('CAN_READ_INBOX_OF allows only to read the inbox', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const { body } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' })
  const read = () => gateway.call('GET', '/v1/inbox?agent=@donna', undefined, mike)
  expect((await read()).status).toBe(403)
  const { permissionId } = (await grant(gateway, donna, '@mike', 'CAN_READ_INBOX_OF')).body
  expect((await read()).body.messages).toMatchObject([{ messageId: body.messageId, status: 'sent' }])
  const seen = await gateway.call('POST', `/v1/messages/${body.messageId}/status`, { status: 'seen' }, mike)
  expect(seen.status).toBe(404)
  await gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, donna)
  expect((await read()).status).toBe(403)
})

// S1-45
test('CAN_MANAGE_SUBSCRIPTIONS_OF makes, changes and ends another agent’s subscriptions', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const input = {
    trigger: 'SENT_TO_ME',
    agentIdentity: '@donna',
    harnessTargetMetadata: { url: receiver.url, coalesceWindow: 0 },
  }
  const make = () => gateway.call('POST', '/v1/wake-subscriptions', input, mike)
  expect((await make()).body).toMatchObject({ status: 403, field: 'agentIdentity' })
  expect((await subscriptionsOf(gateway, mike, '?agent=donna')).status).toBe(403)
  const { permissionId } = (await grant(gateway, donna, '@mike', 'CAN_MANAGE_SUBSCRIPTIONS_OF')).body
  const { subscriptionId } = (await make()).body
  expect((await subscriptionsOf(gateway, donna)).body.subscriptions).toMatchObject([
    { subscriptionId, agentIdentity: '@donna' },
  ])
  expect((await subscriptionsOf(gateway, mike)).body.subscriptions).toEqual([])
  expect((await subscriptionsOf(gateway, mike, '?agent=donna')).body.subscriptions).toHaveLength(1)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' })
  expect((await receiver.waitFor(1))[0]!.body.agentIdentity).toBe('@donna')
  const path = `/v1/wake-subscriptions/${subscriptionId}`
  expect((await gateway.call('PATCH', path, { status: 'paused' }, mike)).body.currentState.status).toBe('paused')
  const { events } = (await gateway.call('GET', '/v1/events', undefined, donna)).body
  expect(events.at(-1)).toMatchObject({ type: 'subscription.updated', actor: '@mike' })
  await gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, donna)
  expect((await gateway.call('DELETE', path, undefined, mike)).body.code).toBe('subscription-not-found')
  await grant(gateway, donna, '@mike', 'CAN_MANAGE_SUBSCRIPTIONS_OF')
  expect((await gateway.call('DELETE', path, undefined, mike)).status).toBe(200)
})

// S1-45
test('resync and replay are no back door: not without a grant, and not with one', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Before the grant' })
  await receiver.waitFor(1)
  const past = (key: TestAgent) => [
    gateway.call('POST', `/v1/wake-subscriptions/${id}/resync`, { sinceLogId: 0 }, key),
    gateway.call('POST', `/v1/wake-subscriptions/${id}/replay`, { fromLogId: 1, toLogId: 99 }, key),
  ]
  for (const answer of past(mike)) expect((await answer).body.code).toBe('subscription-not-found')
  await grant(gateway, donna, '@mike', 'CAN_MANAGE_SUBSCRIPTIONS_OF')
  for (const answer of past(mike)) expect((await answer).body.code).toBe('forbidden')
  expect((await past(donna)[0]!).body.eventsReplayed).toBe(1)
})

// S1-26: the gateway stores no memories; the program that stores them checks the grant
test('a grant is looked up by scope, grantor and grantee', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await grant(gateway, donna, '@mike', 'CAN_READ_MEMORIES_OF')
  await grant(gateway, donna, '@mike', 'CAN_REPLY_TO')
  await grant(gateway, mike, '@donna', 'CAN_READ_MEMORIES_OF')
  const ask = async (query: string, key?: TestAgent) =>
    (await gateway.call('GET', `/v1/permissions?${query}`, undefined, key)).body
  for (const key of [undefined, mike, donna]) {
    expect((await ask('scope=CAN_READ_MEMORIES_OF&grantor=@donna&grantee=mike', key)).permissions).toMatchObject([
      { scope: 'CAN_READ_MEMORIES_OF', grantor: '@donna', grantee: '@mike' },
    ])
  }
  expect((await ask('grantor=@donna')).permissions).toHaveLength(2)
  expect((await ask('grantor=@operator')).permissions).toEqual([])
  expect(await ask('grantor=@nobody')).toMatchObject({ status: 404, field: 'grantor' })
  expect(await ask('scope=CAN_FLY')).toMatchObject({ status: 400, field: 'scope' })
})
