import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

async function subscribeOperator(gateway: TestGateway, trigger: string, url: string): Promise<void> {
  const request = { trigger, harnessTargetMetadata: { url, coalesceWindow: 0 } }
  const { status } = await gateway.call('POST', '/v1/wake-subscriptions', request)
  expect(status).toBe(201)
}

test('the operator is woken when a subscription degrades, when an event fails, and when it recovers', async () => {
  await using gateway = await startGateway()
  await using watch = await startReceiver()
  await using broken = await startReceiver(404)
  const donna = await gateway.addAgent('donna')
  for (const trigger of ['SUBSCRIPTION_DEGRADED', 'WAKE_FAILED', 'SUBSCRIPTION_RECOVERED']) {
    await subscribeOperator(gateway, trigger, watch.url)
  }
  const { id } = await gateway.subscribe(donna, broken.url)
  await gateway.send('donna', 'nobody takes this')
  await watch.waitFor(2)
  broken.respond(200)
  await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { status: 'active' }, { key: donna.key })

  const wakes = await watch.waitFor(3)
  const about = (eventType: string) => wakes.find(({ body }) => body.eventType === eventType)?.body
  const subject = { subscriptionId: id, agent: '@donna', reason: 'http-404' }
  expect(about('wake/subscription_degraded')).toMatchObject({ agentIdentity: '@operator', payload: subject })
  expect(about('wake/event_failed')).toMatchObject({ payload: { ...subject, logId: expect.any(Number) } })
  expect(about('wake/subscription_recovered')).toMatchObject({ payload: subject })
})

test('a rotation wakes the operator and the agent itself', async () => {
  await using gateway = await startGateway()
  await using watch = await startReceiver()
  await using own = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, own.url)
  await subscribeOperator(gateway, 'SIGNING_KEY_ROTATED', watch.url)
  await gateway.subscribe(donna, own.url, {
    trigger: 'SIGNING_KEY_ROTATED',
    harnessTargetMetadata: { includeOwn: true },
  })
  await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { rotateSigningKey: true }, { key: donna.key })

  const [received] = await watch.waitFor(1)
  expect(received!.body.payload).toMatchObject({
    subscriptionId: id,
    agent: '@donna',
    previousKeyUntil: expect.any(String),
  })
  const [alone] = await own.waitFor(1)
  expect(alone!.body.eventType).toBe('wake/signing_key_rotated')
})

test('signals of several kinds of trouble come as one digest when a window is requested', async () => {
  await using gateway = await startGateway()
  await using watch = await startReceiver()
  const request = {
    trigger: 'SIGNING_KEY_ROTATED',
    harnessTargetMetadata: { url: watch.url, coalesceWindow: 0.2, coalesceMode: 'window' },
  }
  await gateway.call('POST', '/v1/wake-subscriptions', request)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  for (let i = 0; i < 3; i++) {
    await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { rotateSigningKey: true }, { key: donna.key })
  }
  const [digest] = await watch.waitFor(1)
  expect(digest!.body).toMatchObject({ eventType: 'wake/digest', payload: { signals: expect.any(Number) } })
  expect(digest!.body.payload.summary).toContain(`subscription.key_rotated on ${id} of @donna`)
})

test('an agent gets no signals of the subscriptions of another', async () => {
  await using gateway = await startGateway()
  await using watch = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  const mine = await gateway.subscribe(lola, watch.url, {
    trigger: 'SIGNING_KEY_ROTATED',
    harnessTargetMetadata: { includeOwn: true },
  })
  await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { rotateSigningKey: true }, { key: donna.key })
  const other = await gateway.subscribe(lola, watch.url)
  await gateway.call('PATCH', `/v1/wake-subscriptions/${other.id}`, { rotateSigningKey: true }, { key: lola.key })
  const wakes = await watch.waitFor(1)
  expect(wakes.map(({ body }) => body.payload.subscriptionId)).toEqual([other.id])
  expect(mine.id).not.toBe(other.id)
})
