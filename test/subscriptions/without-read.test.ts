import { expect, test } from 'vitest'
import { secret as eventSecret, eventsEnv, startCallback } from '../fronts/mcp/events/rpc.ts'
import { startGateway, type TestAgent } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'

const secret = 'The vault is open'

/** Donna, and a key of hers that manages and may not read. */
async function start() {
  const gateway = await startGateway({ env: eventsEnv })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const mallory = await gateway.addAgent('mallory')
  const { body } = await gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['manage'] }, donna)
  const manager = { ...donna, key: String(body.apiKey) }
  const mail = () =>
    gateway.call('POST', '/v1/messages', { to: '@donna', subject: secret, taggedConcepts: [secret] }, lola)
  return { gateway, donna, mallory, manager, mail, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}
const bodyOf = (receiver: Receiver, nth: number) => receiver.wakes[nth]!.body

// The attack: `manage` was `read` in two steps. D46
test('a key without read grants nobody to read, and has nothing sent again', async () => {
  await using s = await start()
  await using receiver = await startReceiver()
  const { id } = await s.gateway.subscribe(s.manager, receiver.url, { trigger: 'SENT_TO_ME' })
  for (const scope of ['CAN_READ_INBOX_OF', 'CAN_READ_MEMORIES_OF', 'CAN_MANAGE_SUBSCRIPTIONS_OF']) {
    const refused = await s.gateway.call('POST', '/v1/permissions', { grantee: 'mallory', scope }, s.manager)
    expect([refused.status, refused.body.code, refused.body.scope]).toEqual([403, 'forbidden', 'read'])
    expect(refused.body.detail).toContain(`Granting ${scope} needs the scope "read"`)
    expect((await s.gateway.call('POST', '/v1/permissions', { grantee: 'mallory', scope }, s.donna)).status).toBe(201)
  }
  const reply = { grantee: 'mallory', scope: 'CAN_REPLY_TO' }
  expect((await s.gateway.call('POST', '/v1/permissions', reply, s.manager)).status).toBe(201)
  for (const [act, body] of [
    ['resync', { sinceLogId: 0 }],
    ['replay', { failedSince: '2026-04-26T10:00:00.000Z' }],
  ] as const) {
    const refused = await s.gateway.call('POST', `/v1/wake-subscriptions/${id}/${act}`, body, s.manager)
    expect([refused.status, refused.body.scope]).toEqual([403, 'read'])
  }
})

// The same attack, by the events of MCP.
test('a key without read begins no subscription to events in the past, and takes none over that has subjects', async () => {
  await using s = await start()
  await using callback = await startCallback()
  const subscribe = (by: TestAgent, url: string, more: object = {}) =>
    s.gateway.call('POST', '/v1/event-subscriptions', { name: 'mail.received', url, secret: eventSecret, ...more }, by)
  const { cursor } = (await subscribe(s.donna, callback.url)).body
  await s.mail()
  await until(
    () => callback.events.length,
    (count) => count === 1,
  )
  const other = `${callback.url}/other`
  for (const past of [cursor, 'nonsense']) {
    const refused = await subscribe(s.manager, other, { cursor: past })
    expect([refused.status, refused.body.scope]).toEqual([403, 'read'])
  }
  const taken = await subscribe(s.manager, callback.url, { secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` })
  expect([taken.status, taken.body.scope]).toEqual([403, 'read'])
  expect(callback.heard.filter(({ body }) => body.type !== 'verification')).toHaveLength(1)
  // From now on, and its own, it may.
  const own = await subscribe(s.manager, other)
  expect([own.status, (await subscribe(s.manager, other)).status]).toEqual([200, 200])
  await s.mail()
  await until(
    () => callback.events.map(({ data }) => data.subject).sort(),
    (subjects) => subjects.join() === ['', secret, secret].join(),
  )
  // A key that may read makes it one with subjects.
  expect((await subscribe(s.donna, other)).status).toBe(200)
  expect((await subscribe(s.manager, other)).status).toBe(403)
})

test('a subscription of a key without read tells ids and counts, and no subjects', async () => {
  await using s = await start()
  await using receiver = await startReceiver()
  await s.gateway.subscribe(s.manager, receiver.url, { trigger: 'SENT_TO_ME' })
  const { messageId } = (await s.mail()).body
  await receiver.waitFor(1)
  expect(bodyOf(receiver, 0).payload).toMatchObject({ messageId, from: '@lola', subject: '', taggedConcepts: [] })
  await using digests = await startReceiver()
  const harnessTargetMetadata = { coalesceWindow: 0.5, coalesceMode: 'window' }
  await s.gateway.subscribe(s.manager, digests.url, { trigger: 'SENT_TO_ME', startFrom: 'now', harnessTargetMetadata })
  await s.mail()
  await digests.waitFor(1)
  const { payload } = bodyOf(digests, 0)
  expect(payload).toMatchObject({ newMessages: 1, summary: expect.stringMatching(/latest: MESSAGE:\S+ from @lola/) })
  for (const one of [receiver, digests]) expect(JSON.stringify(one.wakes)).not.toContain(secret)
})

test('a key without read that points a subscription elsewhere gets no subjects; one with read does', async () => {
  await using s = await start()
  await using first = await startReceiver()
  await using second = await startReceiver()
  const { id } = await s.gateway.subscribe(s.donna, first.url, { trigger: 'SENT_TO_ME' })
  const point = (url: string, agent: { key: string }) =>
    s.gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { harnessTargetMetadata: { url } }, agent)
  await s.mail()
  await first.waitFor(1)
  expect(bodyOf(first, 0).payload).toMatchObject({ subject: secret })
  const changed = await point(second.url, s.manager)
  expect(changed.body.currentState.harnessTargetMetadata).toMatchObject({ url: second.url, withoutSubjects: true })
  await s.mail()
  await second.waitFor(1)
  expect(JSON.stringify(second.wakes)).not.toContain(secret)
  // First a change of neither its target nor what it tells, then a key that may read.
  await s.gateway.call(
    'PATCH',
    `/v1/wake-subscriptions/${id}`,
    { harnessTargetMetadata: { coalesceWindow: 0 } },
    s.donna,
  )
  await s.mail()
  await second.waitFor(2)
  expect(JSON.stringify(second.wakes)).not.toContain(secret)
  await point(first.url, s.donna)
  await s.mail()
  await first.waitFor(2)
  expect(bodyOf(first, 1).payload).toMatchObject({ subject: secret })
})

// The attack: `work` was `read` by way of the stream of a subscription that another key had made. D46
test('a key without read reads only a stream of ids and counts', async () => {
  await using s = await start()
  const scopes = { scopes: ['work', 'manage'] }
  const worker = {
    ...s.donna,
    key: (await s.gateway.call('POST', '/v1/agents/donna/keys', scopes, s.donna)).body.apiKey,
  }
  const subscribed = async (agent: { key: string }): Promise<string> => {
    const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
    return (await s.gateway.call('POST', '/v1/wake-subscriptions', input, agent)).body.subscriptionId
  }
  const [full, bare] = [await subscribed(s.donna), await subscribed(worker)]
  await s.mail()
  const stream = `/v1/wake-stream?subscription=${bare}&subscription=${full}`
  const refused = await s.gateway.call('GET', stream, undefined, worker)
  expect([refused.status, refused.body.code, refused.body.scope]).toEqual([403, 'forbidden', 'read'])
  await using reader = await readWakes(s.gateway, worker, [bare])
  const [wake] = await reader.waitFor(1)
  expect(wake!.body.subscriptionId).toBe(bare)
  expect(wake!.raw).not.toContain(secret)
  await using whole = await readWakes(s.gateway, s.donna, [full])
  expect((await whole.waitFor(1))[0]!.raw).toContain(secret)
})
