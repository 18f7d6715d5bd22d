import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

test('deliveries of all subscriptions are one list, by outcome, agent and the time of their end', async () => {
  await using gateway = await startGateway()
  await using good = await startReceiver()
  await using gone = await startReceiver(410)
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const toDonna = await gateway.subscribe(donna, good.url, { trigger: 'SENT_TO_ME' })
  const toLola = await gateway.subscribe(lola, gone.url, { trigger: 'SENT_TO_ME' })
  const read = async (query = '', options = {}) =>
    (await gateway.call('GET', `/v1/deliveries${query}`, undefined, options)).body
  const agentsOf = async (query: string, options = {}) =>
    (await read(query, options)).deliveries.map(({ agent }: { agent: string }) => agent)
  for (const subject of ['one', 'two', 'three']) {
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject })
    await until(
      () => agentsOf('?agent=donna'),
      (agents) => agents.length === ['one', 'two', 'three'].indexOf(subject) + 1,
    )
  }
  await gateway.call('POST', '/v1/messages', { to: '@lola', subject: 'four' })
  const all = await until(read, ({ deliveries }) => deliveries.length === 4)

  expect(all.nextPageToken).toBe('')
  expect(all.deliveries[0]).toMatchObject({
    subscriptionId: toLola.id,
    agent: '@lola',
    trigger: 'SENT_TO_ME',
    harnessTarget: 'a2a-webhook',
    url: gone.url,
    outcome: 'rejected',
    attempts: [{ status: 410 }],
  })
  expect(await agentsOf('?outcome=failed')).toEqual(['@lola'])
  expect(await agentsOf('?outcome=delivered')).toHaveLength(3)
  expect(await agentsOf('?outcome=retrying')).toEqual([])
  expect(await agentsOf(`?subscription=${toDonna.id}`)).toHaveLength(3)
  const [{ updatedAt }] = all.deliveries
  expect(await agentsOf(`?endedAfter=${updatedAt}`)).toContain('@lola')
  expect(await agentsOf(`?endedBefore=${new Date(Date.parse(updatedAt) - 1).toISOString()}`)).not.toContain('@lola')

  // Pages join without a gap.
  const first = await read('?limit=3')
  const rest = await read(`?limit=3&pageToken=${first.nextPageToken}`)
  expect([...first.deliveries, ...rest.deliveries]).toEqual(all.deliveries)
  expect(rest.nextPageToken).toBe('')

  // An agent sees its own, and an operator those of its project.
  expect(await agentsOf('', { key: lola.key })).toEqual(['@lola'])
  const denied = await gateway.call('GET', '/v1/deliveries?agent=donna', undefined, { key: lola.key })
  expect(denied).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  expect(await agentsOf('', { headers: { 'Rouse-Project': 'web' } })).toEqual([])
})

test('a delivery that is tried again can be found', async () => {
  await using gateway = await startGateway()
  await using away = await startReceiver(503)
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, away.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata: { retryForSeconds: 3_600 } })
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' })
  const found = await until(
    async () => (await gateway.call('GET', '/v1/deliveries?outcome=retrying')).body,
    ({ deliveries }) => deliveries.length > 0,
  )
  expect(found.deliveries).toMatchObject([{ agent: '@donna', outcome: 'pending', nextAttemptAt: expect.any(String) }])
})

test('the events of one task are for its parties', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const mike = await gateway.addAgent('mike')
  const { id } = await gateway.send('donna', 'review', { key: lola.key })
  await gateway.send('donna', 'another', { key: lola.key })
  await gateway.move(donna, id, 'working')
  const read = (key: string) => gateway.call('GET', `/v1/events?task=${id}`, undefined, { key })
  for (const key of [donna.key, lola.key, gateway.adminKey]) {
    const { events, more } = (await read(key)).body
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'message.sent',
      'task.state_changed',
      'task.state_changed',
    ])
    expect(events.every(({ taskId }: { taskId: string }) => taskId === id)).toBe(true)
    expect(more).toBe(false)
  }
  expect(await read(mike.key)).toMatchObject({ status: 404, body: { code: 'task-not-found' } })
})
