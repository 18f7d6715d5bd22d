import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { patch, stateOf } from '../wakes/acts.ts'

async function listen(gateway: TestGateway, agent: TestAgent, harnessTarget: string): Promise<string> {
  const request = { trigger: 'SENT_TO_ME', harnessTarget }
  const { status, body } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: agent.key })
  expect(status).toBe(201)
  return body.subscriptionId
}

const toWebhook = (url: string) => ({
  harnessTarget: 'a2a-webhook',
  harnessTargetMetadata: { url, coalesceWindow: 0 },
})

// D24
describe('another target', () => {
  test('that is a webhook gets a key, what waited as one digest, and then each event', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const id = await listen(gateway, donna, 'disabled')
    await gateway.send('donna', 'one')
    await gateway.send('donna', 'two')
    const { status, body } = await patch(gateway, donna, id, toWebhook(receiver.url))
    expect(status).toBe(200)
    expect(body.currentState).toMatchObject({ harnessTarget: 'a2a-webhook', status: 'active' })
    expect(body.signingKey).toMatch(/^whsec_/)
    const [digest] = await receiver.waitFor(1)
    expect(digest!.body).toMatchObject({ eventType: 'wake/digest', prevLogId: null, payload: { eventCount: 2 } })
    expect(digest!.headers['x-neo-wake-signature']).toBe(
      createHmac('sha256', body.signingKey).update(digest!.raw).digest('hex'),
    )
    await gateway.send('donna', 'three')
    const [, third] = await receiver.waitFor(2)
    expect(third!.body).toMatchObject({ eventType: 'wake/sent_to_me', prevLogId: digest!.body.logId })
  })

  test('that nothing is sent to keeps the cursor and the key; back at the webhook nothing is lost or sent twice', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const { id, signingKey } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    await gateway.send('donna', 'before')
    await receiver.waitFor(1)
    await until(
      () => stateOf(gateway, donna, id),
      ({ lastEmittedLogId }) => lastEmittedLogId !== null,
    )
    await patch(gateway, donna, id, { harnessTarget: 'disabled' })
    await gateway.send('donna', 'meanwhile')
    const back = await patch(gateway, donna, id, { harnessTarget: 'a2a-webhook' })
    expect(back.body.signingKey).toBe(undefined)
    const [before, meanwhile] = await receiver.waitFor(2)
    expect(meanwhile!.body).toMatchObject({ prevLogId: before!.body.logId, payload: { eventCount: 1 } })
    expect(meanwhile!.body.payload.latestMessage).toMatchObject({ subject: 'meanwhile' })
    expect(meanwhile!.headers['x-neo-wake-signature']).toBe(
      createHmac('sha256', signingKey).update(meanwhile!.raw).digest('hex'),
    )
  })

  test('is refused where it needs what is not there, and nothing changes', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await listen(gateway, donna, 'none')
    const before = await stateOf(gateway, donna, id)
    const { status, body } = await patch(gateway, donna, id, { harnessTarget: 'a2a-webhook' })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid-request', field: 'harnessTargetMetadata.url' })
    expect(await stateOf(gateway, donna, id)).toEqual(before)
  })

  test('that a grantee gives starts at the head of the log, and the key stays the owner’s', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const bob = await gateway.addAgent('bob')
    const id = await listen(gateway, donna, 'disabled')
    await gateway.send('donna', 'before the grant')
    const grant = { grantee: '@bob', scope: 'CAN_MANAGE_SUBSCRIPTIONS_OF' }
    expect((await gateway.call('POST', '/v1/permissions', grant, { key: donna.key })).status).toBe(201)
    const { status, body } = await patch(gateway, bob, id, toWebhook(receiver.url))
    expect([status, body.signingKey]).toEqual([200, undefined])
    await gateway.send('donna', 'after')
    const [wake] = await receiver.waitFor(1)
    expect(wake!.body.payload).toMatchObject({ subject: 'after' })
  })
})
