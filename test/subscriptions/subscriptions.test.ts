import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { deliveriesOf, eventsOf, patch, remove, resync, stateOf } from '../wakes/acts.ts'

const all = '/v1/wake-subscriptions'
const nowhere = 'http://127.0.0.1:9/'

describe('subscribing', () => {
  test.each<[string, JsonObject, string]>([
    ['no trigger', {}, 'trigger'],
    ['an unknown trigger', { trigger: 'ALL' }, 'trigger'],
    ['a webhook without a url', { trigger: 'SENT_TO_ME', harnessTarget: 'a2a-webhook' }, 'harnessTargetMetadata.url'],
    ['an unknown target', { trigger: 'SENT_TO_ME', harnessTarget: 'degraded' }, 'harnessTarget'],
    ['an unknown filter', { trigger: 'SENT_TO_ME', filters: { subject: 'x' } }, 'filters.subject'],
    ['an unknown priority', { trigger: 'SENT_TO_ME', filters: { priority: 'urgent' } }, 'filters.priority'],
    [
      'a key of its own',
      { trigger: 'SENT_TO_ME', harnessTargetMetadata: { url: nowhere, signingKey: 'k' } },
      'harnessTargetMetadata.signingKey',
    ],
    [
      'an unknown mode',
      { trigger: 'SENT_TO_ME', harnessTargetMetadata: { url: nowhere, coalesceMode: 'x' } },
      'harnessTargetMetadata.coalesceMode',
    ],
    [
      'a url that is none',
      { trigger: 'SENT_TO_ME', harnessTargetMetadata: { url: 'nowhere' } },
      'harnessTargetMetadata.url',
    ],
  ])('with %s names the field', async (_, request, field) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const answer = await gateway.call('POST', all, request, { key: donna.key })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 'invalid-request', field })
    if (field !== 'harnessTargetMetadata.url') expect(answer.body.detail).toContain(field)
  })

  test('to a forbidden address is refused', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const request = { trigger: 'SENT_TO_ME', harnessTargetMetadata: { url: 'http://169.254.169.254/' } }
    const answer = await gateway.call('POST', all, request, { key: donna.key })
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ code: 'url-not-allowed', field: 'harnessTargetMetadata.url' })
  })

  // S1-4, S1-44
  test.each([
    [{ harnessTargetMetadata: { url: nowhere } }, 'a2a-webhook', true],
    [{}, 'disabled', false],
    [{ harnessTarget: 'none' }, 'none', false],
  ])('with %j goes to %s', async (request, harnessTarget, hasKey) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { body } = await gateway.call('POST', all, { trigger: 'SENT_TO_ME', ...request }, { key: donna.key })
    expect(body).toMatchObject({ harnessTarget })
    expect('signingKey' in body).toBe(hasKey)
  })

  test('the operator names the agent', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const request = { trigger: 'SENT_TO_ME', harnessTargetMetadata: { url: receiver.url, coalesceWindow: 0 } }
    expect((await gateway.call('POST', all, request)).body).toMatchObject({ field: 'agentIdentity' })
    const made = await gateway.call('POST', all, { ...request, agentIdentity: '@donna' })
    expect(made.status).toBe(201)
    expect(await stateOf(gateway, donna, made.body.subscriptionId)).toMatchObject({ agentIdentity: '@donna' })
    await gateway.send('donna', 'hello')
    expect((await receiver.waitFor(1))[0]!.body.agentIdentity).toBe('@donna')
  })
})

// S1-45
test('a subscription belongs to its agent and the operator; to others it does not exist', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mallory = await gateway.addAgent('mallory')
  const { id } = await gateway.subscribe(donna, receiver.url)
  const answers = [
    await gateway.call('GET', `${all}/${id}`, undefined, { key: mallory.key }),
    await gateway.call('GET', `${all}/${id}/deliveries`, undefined, { key: mallory.key }),
    await gateway.call('POST', `${all}/${id}/test`, undefined, { key: mallory.key }),
    await patch(gateway, mallory, id, { rotateSigningKey: true }),
    await resync(gateway, mallory, id, 0),
    await remove(gateway, mallory, id),
  ]
  for (const { status, body } of answers) {
    expect(status).toBe(404)
    expect(body.code).toBe('subscription-not-found')
  }
  expect((await gateway.call('GET', all, undefined, { key: mallory.key })).body.subscriptions).toEqual([])
  const forOther = { trigger: 'SENT_TO_ME', agentIdentity: '@donna', harnessTargetMetadata: { url: receiver.url } }
  expect((await gateway.call('POST', all, forOther, { key: mallory.key })).status).toBe(403)
  expect((await gateway.call('GET', all)).body.subscriptions).toHaveLength(1)
  expect(receiver.wakes).toHaveLength(0)
})

// S1-36
test('a key is shown once, when it is made, and never again', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id, signingKey } = await gateway.subscribe(donna, receiver.url)
  const rotated = await patch(gateway, donna, id, { rotateSigningKey: true })
  await gateway.send('donna', 'hello')
  await receiver.waitFor(1)
  const paths = [all, `${all}/${id}`, `${all}/${id}/deliveries`, '/v1/events?since=0', '/v1/agents']
  for (const path of paths) {
    for (const key of [donna.key, gateway.adminKey]) {
      const text = JSON.stringify((await gateway.call('GET', path, undefined, { key })).body)
      expect(text).not.toContain('whsec_')
      for (const secret of [signingKey, rotated.body.signingKey]) expect(text).not.toContain(secret.slice(6))
    }
  }
  expect(JSON.stringify(rotated.body.currentState)).not.toContain('whsec_')
})

describe('changing', () => {
  test.each<[string, JsonObject, string]>([
    ['an unknown field', { harness: 'none' }, 'harness'],
    ['an unknown target', { harnessTarget: 'degraded' }, 'harnessTarget'],
    ['a status that only the gateway gives', { status: 'degraded' }, 'status'],
    [
      'a window out of range',
      { harnessTargetMetadata: { coalesceWindow: 301 } },
      'harnessTargetMetadata.coalesceWindow',
    ],
    ['an overlap below zero', { rotateSigningKey: true, overlapSeconds: -1 }, 'overlapSeconds'],
    ['an overlap too long', { rotateSigningKey: true, overlapSeconds: 604_801 }, 'overlapSeconds'],
    ['a filter of another type', { filters: { senderFilter: '@lola' } }, 'filters.senderFilter'],
    ['an url that is none', { harnessTargetMetadata: { url: 'nowhere' } }, 'harnessTargetMetadata.url'],
  ])('%s names the field', async (_, changes, field) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.subscribe(donna, nowhere)
    const before = await stateOf(gateway, donna, id)
    const answer = await patch(gateway, donna, id, changes)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 'invalid-request', field })
    expect(await stateOf(gateway, donna, id)).toEqual(before)
  })

  test('one field leaves the others unchanged', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const filters = { priority: 'high' }
    const harnessTargetMetadata = { coalesceWindow: 5, coalesceMode: 'leading' }
    const { id } = await gateway.subscribe(donna, nowhere, { filters, harnessTargetMetadata })
    const { body } = await patch(gateway, donna, id, { harnessTargetMetadata: { coalesceWindow: 7 } })
    expect(body.subscriptionId).toBe(id)
    expect(body).not.toHaveProperty('signingKey')
    expect(body.currentState).toMatchObject({
      filters,
      trigger: 'TASK_STATE_CHANGED',
      harnessTargetMetadata: { url: nowhere, coalesceWindow: 7, coalesceMode: 'leading' },
    })
  })

  test('the address takes effect with the answer', async () => {
    await using gateway = await startGateway()
    await using before = await startReceiver()
    await using after = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.subscribe(donna, before.url)
    await gateway.send('donna', 'to the old one')
    await before.waitFor(1)
    await patch(gateway, donna, id, { harnessTargetMetadata: { url: after.url } })
    const task = await gateway.send('donna', 'to the new one')
    await after.waitFor(1)
    expect(after.wakes.at(-1)!.body.payload.taskId).toBe(task.id)
    expect(before.wakes).toHaveLength(1)
  })
})

test('unsubscribing stops the wakes and removes the subscription', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const kept = await gateway.subscribe(donna, receiver.url)
  const { id } = await gateway.subscribe(donna, `${receiver.url}gone`)
  await gateway.send('donna', 'both')
  await receiver.waitFor(2)
  expect(await remove(gateway, donna, id)).toMatchObject({
    status: 200,
    body: { subscriptionId: id, status: 'removed' },
  })
  expect((await remove(gateway, donna, id)).status).toBe(404)
  await gateway.send('donna', 'one')
  await receiver.waitFor(3)
  expect(receiver.wakes[2]!.body.subscriptionId).toBe(kept.id)
  expect((await eventsOf(gateway, 'subscription.removed')).map(({ data }) => data.subscriptionId)).toEqual([id])
})

test('a test sends one signed wake that moves nothing', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver(500)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  const send = () => gateway.call('POST', `${all}/${id}/test`, undefined, { key: donna.key })
  expect((await send()).body).toMatchObject({ attempt: { status: 500, error: null } })
  receiver.respond(200)
  const { body } = await send()
  expect(body).toMatchObject({ eventId: receiver.wakes[1]!.body.eventId, attempt: { status: 200 } })
  expect(receiver.wakes).toHaveLength(2)
  expect(receiver.wakes[1]!.body).toMatchObject({
    eventType: 'wake/test',
    logId: 0,
    prevLogId: null,
    payload: { requestedBy: '@donna' },
  })
  expect(receiver.wakes[1]!.headers['x-neo-wake-signature']).toMatch(/^[0-9a-f]{64}$/)
  expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active', failedInARow: 0, lastEmittedLogId: null })
  expect(await deliveriesOf(gateway, donna, id)).toEqual([])
})

test('deliveries are listed newest first, in pages', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  for (let i = 0; i < 5; i++) await gateway.send('donna', `task ${i}`)
  await until(
    () => deliveriesOf(gateway, donna, id),
    ({ length }) => length === 5,
  )
  const page = async (query: string) =>
    (await gateway.call('GET', `${all}/${id}/deliveries?${query}`, undefined, { key: donna.key })).body
  const first = await page('limit=3')
  const second = await page(`limit=3&pageToken=${first.nextPageToken}`)
  const deliveries = [...first.deliveries, ...second.deliveries]
  expect(deliveries.map(({ eventId }) => eventId)).toEqual(receiver.wakes.map(({ body }) => body.eventId).reverse())
  expect(second.nextPageToken).toBe('')
  expect(deliveries[0]).toMatchObject({
    eventType: 'wake/task_state_changed',
    logIds: [receiver.wakes[4]!.body.logId],
    eventCount: 1,
    outcome: 'delivered',
    attempts: [{ at: expect.any(String), status: 200, durationMs: expect.any(Number), error: null }],
  })
})

// S1-43, S1-44, D35
test("the list with a subscriptionId has that one, and refuses one that is not the caller's", async () => {
  await using gateway = await startGateway()
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  const subscribe = () => gateway.call('POST', all, { trigger: 'SENT_TO_ME' }, { key: donna.key })
  const [{ body: first }] = [await subscribe(), await subscribe()]
  const list = (query: string, { key } = donna) => gateway.call('GET', `${all}?${query}`, undefined, { key })
  const { body } = await list(`subscriptionId=${first.subscriptionId}`)
  expect(body).toMatchObject({ subscriptions: [{ subscriptionId: first.subscriptionId }], nextPageToken: '' })
  expect((await list(`subscriptionId=${first.subscriptionId}`, bob)).body.code).toBe('subscription-not-found')
  const both = await list(`subscriptionId=${first.subscriptionId}&agent=@donna`)
  expect(both.body).toMatchObject({ code: 'invalid-request', field: 'agent' })
})
