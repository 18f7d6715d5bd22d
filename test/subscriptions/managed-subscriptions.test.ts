import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'

async function grantTo(gateway: TestGateway, grantor: TestAgent, grantee: string): Promise<string> {
  const body = { grantee, scope: 'CAN_MANAGE_SUBSCRIPTIONS_OF' }
  return (await gateway.call('POST', '/v1/permissions', body, grantor)).body.permissionId
}
const patch = (gateway: TestGateway, id: string, body: object, agent?: TestAgent) =>
  gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, body, agent)
const tell = (gateway: TestGateway, subject: string) => gateway.call('POST', '/v1/messages', { to: '@donna', subject })
const show = async (gateway: TestGateway, id: string) =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}`)).body

// The attack: resume a paused subscription towards an address of one's own, and read what was before the grant. D21
test.each([
  ['made active with another url', { status: 'active' }, 'paused'],
  ['pointed elsewhere while it is active', {}, 'active'],
])('a subscription that a grantee has %s begins at the log head', async (_what, change, status) => {
  await using gateway = await startGateway()
  await using own = await startReceiver(status === 'active' ? 503 : 200)
  await using elsewhere = await startReceiver()
  const [donna, mallory] = [await gateway.addAgent('donna'), await gateway.addAgent('mallory')]
  const { id } = await gateway.subscribe(donna, own.url, { trigger: 'SENT_TO_ME' })
  if (status === 'paused') await patch(gateway, id, { status }, donna)
  await tell(gateway, 'BEFORE THE GRANT: salary list')
  if (status === 'active') await own.waitFor(1)
  await grantTo(gateway, donna, '@mallory')
  const moved = await patch(gateway, id, { ...change, harnessTargetMetadata: { url: elsewhere.url } }, mallory)
  expect(moved.body.currentState.status).toBe('active')
  await tell(gateway, 'after the grant')
  const wakes = await elsewhere.waitFor(1)
  expect(wakes).toHaveLength(1)
  expect(wakes[0]!.body.payload).toMatchObject({ subject: 'after the grant' })
})

// The attack: a replay of the owner is pending when the grantee sets another target for the subscription. D21
test('a pending replay is not sent to a target that a grantee sets', async () => {
  await using gateway = await startGateway()
  await using own = await startReceiver()
  await using elsewhere = await startReceiver()
  const [donna, mallory] = [await gateway.addAgent('donna'), await gateway.addAgent('mallory')]
  const { id } = await gateway.subscribe(donna, own.url, { trigger: 'SENT_TO_ME' })
  await tell(gateway, 'BEFORE THE GRANT')
  const [first] = await own.waitFor(1)
  await until(
    async () => (await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`)).body.deliveries,
    ([delivery]) => delivery?.outcome === 'delivered',
  )
  own.respond((_wake, res) => res.destroy())
  await gateway.call('POST', `/v1/wake-subscriptions/${id}/replay`, { eventId: first!.body.eventId }, donna)
  await own.waitFor(2)
  await grantTo(gateway, donna, '@mallory')
  await patch(gateway, id, { harnessTargetMetadata: { url: elsewhere.url } }, mallory)
  await tell(gateway, 'after the grant')
  const wakes = await elsewhere.waitFor(1)
  expect(wakes.map(({ body }) => body.payload.subject)).toEqual(['after the grant'])
})

// The attack: rotate the owner's key, learn the new one, cut the owner off. D21
test('the signing key is the owner’s: a grantee neither rotates it nor learns it', async () => {
  await using gateway = await startGateway()
  const [donna, mallory] = [await gateway.addAgent('donna'), await gateway.addAgent('mallory')]
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/', { trigger: 'SENT_TO_ME' })
  await grantTo(gateway, donna, '@mallory')
  const rotate = { rotateSigningKey: true, overlapSeconds: 0 }
  const refused = await patch(gateway, id, rotate, mallory)
  expect(refused.body).toMatchObject({ status: 403, field: 'rotateSigningKey' })
  const input = {
    trigger: 'SENT_TO_ME',
    agentIdentity: '@donna',
    harnessTargetMetadata: { url: 'http://127.0.0.1:9/of-mallory' },
  }
  const made = await gateway.call('POST', '/v1/wake-subscriptions', input, mallory)
  expect(made.status).toBe(201)
  for (const { body } of [refused, made]) expect(JSON.stringify(body)).not.toContain('whsec_')
  expect((await patch(gateway, made.body.subscriptionId, rotate, donna)).body.signingKey).toMatch(/^whsec_/)
})

// D21
test('revoking the grant pauses only the subscriptions whose target the grantee set', async () => {
  await using gateway = await startGateway()
  await using elsewhere = await startReceiver()
  const [donna, mallory] = [await gateway.addAgent('donna'), await gateway.addAgent('mallory')]
  const own = await gateway.subscribe(donna, 'http://127.0.0.1:9/own', { trigger: 'SENT_TO_ME' })
  const moved = await gateway.subscribe(donna, 'http://127.0.0.1:9/moved', { trigger: 'SENT_TO_ME' })
  const back = await gateway.subscribe(donna, 'http://127.0.0.1:9/back', { trigger: 'TASK_STATE_CHANGED' })
  const permissionId = await grantTo(gateway, donna, '@mallory')
  const away = { harnessTargetMetadata: { url: elsewhere.url } }
  await patch(gateway, own.id, { filters: { priority: 'high' } }, mallory)
  await patch(gateway, moved.id, away, mallory)
  await patch(gateway, back.id, away, mallory)
  await patch(gateway, back.id, { harnessTargetMetadata: { url: 'http://127.0.0.1:9/back' } }, donna)
  await gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, donna)
  expect(await show(gateway, moved.id)).toMatchObject({ status: 'paused', reason: 'grant-revoked' })
  expect((await show(gateway, own.id)).reason).not.toBe('grant-revoked')
  expect((await show(gateway, back.id)).reason).not.toBe('grant-revoked')
  await tell(gateway, 'after the grant was taken back')
  const { events } = (await gateway.call('GET', '/v1/events', undefined, donna)).body
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'subscription.updated',
      data: { subscriptionId: moved.id, status: 'paused', reason: 'grant-revoked' },
    }),
  )
  expect(elsewhere.wakes).toEqual([])
})

// The attack: the owner's channel is away, and what waits for the owner is still to be announced. D21, D29
test('what waits for the owner is not announced to a target that a grantee sets', async () => {
  await using gateway = await startGateway()
  await using elsewhere = await startReceiver()
  const [donna, mallory] = [await gateway.addAgent('donna'), await gateway.addAgent('mallory')]
  await tell(gateway, 'BEFORE THE GRANT: salary list')
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } }
  const { subscriptionId: id } = (await gateway.call('POST', '/v1/wake-subscriptions', input, donna)).body
  await grantTo(gateway, donna, '@mallory')
  const target = { harnessTarget: 'a2a-webhook', harnessTargetMetadata: { url: elsewhere.url } }
  expect((await patch(gateway, id, target, mallory)).status).toBe(200)
  await tell(gateway, 'after the grant')
  const [wake] = await elsewhere.waitFor(1)
  expect(wake!.body.payload).toMatchObject({ subject: 'after the grant' })
})

// The attack: the owner's reader has not reported a digest of what waited, which is about nothing newer than the cursor. D21, D29
test('a digest that is open on a stream is not sent to a target that a grantee sets', async () => {
  await using gateway = await startGateway()
  await using elsewhere = await startReceiver()
  const [donna, mallory] = [await gateway.addAgent('donna'), await gateway.addAgent('mallory')]
  await tell(gateway, 'BEFORE THE GRANT: salary list')
  await grantTo(gateway, donna, '@mallory')
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } }
  const { subscriptionId: id } = (await gateway.call('POST', '/v1/wake-subscriptions', input, donna)).body
  await using reader = await readWakes(gateway, donna, [id])
  const [digest] = await reader.waitFor(1)
  expect(digest!.body.payload).toMatchObject({ reason: 'waiting', eventCount: 1 })
  const metadata = { url: elsewhere.url, retryForSeconds: 3600 }
  await patch(gateway, id, { harnessTarget: 'a2a-webhook', harnessTargetMetadata: metadata }, mallory)
  await tell(gateway, 'after the grant')
  const [wake] = await elsewhere.waitFor(1)
  expect(wake!.body.payload).toMatchObject({ subject: 'after the grant' })
})
