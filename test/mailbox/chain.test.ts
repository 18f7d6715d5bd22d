import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

async function mailed() {
  const gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const { body } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, { key: lola.key })
  const id: string = body.messageId
  const say = (status: string, key = donna.key) =>
    gateway.call('POST', `/v1/messages/${id}/status`, { status }, { key })
  const read = async (key: string) => (await gateway.call('GET', `/v1/messages/${id}`, undefined, { key })).body
  return { gateway, lola, donna, mike, id, say, read, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

// S4-5, S4-6
test('a recipient moves the chain step by step, and its sender reads each with its time', async () => {
  await using world = await mailed()
  for (const status of ['seen', 'acked', 'resolved']) {
    const answer = await world.say(status)
    expect([answer.status, answer.body.recipients[0].status]).toEqual([200, status])
    expect((await world.read(world.lola.key)).recipients).toMatchObject([
      { agent: '@donna', status, receipt: status, deliveryMethod: 'inbox' },
    ])
  }
  const [recipient] = (await world.read(world.lola.key)).recipients
  for (const at of ['seenAt', 'ackedAt', 'resolvedAt', 'deliveredAt']) expect(Date.parse(recipient[at])).not.toBeNaN()
})

test('a repeat is accepted, a step back is a conflict that names the allowed steps, and a jump includes the steps between', async () => {
  await using world = await mailed()
  expect((await world.say('acked')).status).toBe(200)
  expect((await world.read(world.lola.key)).recipients[0].seenAt).not.toBeNull()
  expect((await world.say('acked')).status).toBe(200)
  expect(await world.say('seen')).toMatchObject({
    status: 409,
    body: { code: 'message-status-conflict', from: 'acked', allowed: ['resolved', 'superseded'] },
  })
  expect((await world.say('superseded')).body.recipients[0]).toMatchObject({ status: 'superseded', receipt: 'acked' })
  expect((await world.say('resolved')).body).toMatchObject({ from: 'superseded', allowed: [] })
  const { body } = await world.gateway.call('GET', '/v1/events', undefined, { key: world.lola.key })
  const steps = body.events.filter(({ type }: { type: string }) => /^message\.(?!sent)/.test(type))
  expect(steps.map(({ type }: { type: string }) => type)).toEqual(['message.acked', 'message.superseded'])
})

test('only a recipient moves it: its sender is forbidden to, for others the message does not exist', async () => {
  await using world = await mailed()
  expect(await world.say('seen', world.lola.key)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  expect((await world.say('seen', world.gateway.adminKey)).status).toBe(403)
  expect((await world.say('seen', world.mike.key)).status).toBe(404)
  expect(await world.say('sent')).toMatchObject({ status: 400, body: { field: 'status' } })
  expect((await world.read(world.lola.key)).recipients[0].status).toBe('sent')
})

test('ten reports at once are one step and one event', async () => {
  await using world = await mailed()
  const answers = await Promise.all(Array.from({ length: 10 }, () => world.say('seen')))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  const { body } = await world.gateway.call('GET', '/v1/events?limit=1000')
  expect(body.events.filter(({ type }: { type: string }) => type === 'message.seen')).toHaveLength(1)
})

test('its sender is woken by each step, and by no other’s', async () => {
  await using world = await mailed()
  await using receiver = await startReceiver()
  const { gateway, lola, donna, id } = world
  await gateway.subscribe(lola, receiver.url, { trigger: 'MESSAGE_STATUS_CHANGED' })
  await gateway.subscribe(donna, receiver.url, { trigger: 'MESSAGE_STATUS_CHANGED' })
  await world.say('seen')
  await world.say('resolved')
  const wakes = await receiver.waitFor(2)
  expect(wakes.map(({ body }) => [body.eventType, body.agentIdentity])).toEqual(
    Array(2).fill(['wake/message_status_changed', '@lola']),
  )
  expect(wakes[1]!.body.payload).toEqual({
    messageId: id,
    threadId: id,
    subject: 'Lunch?',
    recipient: '@donna',
    previousStatus: 'seen',
    status: 'resolved',
    changedAt: expect.any(String),
  })
})

test('a digest counts the steps beside the messages', async () => {
  await using world = await mailed()
  await using receiver = await startReceiver()
  const { gateway, lola, say } = world
  const harnessTargetMetadata = { coalesceWindow: 0.3, coalesceMode: 'window' }
  await gateway.subscribe(lola, receiver.url, { trigger: 'MESSAGE_STATUS_CHANGED', harnessTargetMetadata })
  await say('seen')
  await say('acked')
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.payload).toMatchObject({
    eventCount: 2,
    messageStatuses: 2,
    latestMessageStatus: { status: 'acked' },
  })
  expect(wake!.body.payload.summary).toContain('- 2 message statuses (latest: "Lunch?" acked by @donna)')
})
