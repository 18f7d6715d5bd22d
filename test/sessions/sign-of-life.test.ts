import { describe, expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { advanceUntil, eventsOf, patch, stateOf, untilStatus } from '../wakes/acts.ts'

const start = (gateway: TestGateway, agent: TestAgent) =>
  gateway.call('POST', '/v1/sessions', { surface: 'claude_code', pid: 7, drain: false }, { key: agent.key })

/** A subscription whose receiver was away for ten messages. */
async function degraded(gateway: TestGateway, clock: FakeClock, receiver: Receiver, trigger: string) {
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger })
  receiver.respond(503)
  for (let n = 1; n <= 3; n++) {
    await gateway.send('donna', `message ${n}`)
    await advanceUntil(
      clock,
      5_000,
      () => stateOf(gateway, donna, id),
      ({ failedInARow }) => failedInARow === n,
    )
  }
  await untilStatus(gateway, donna, id, 'degraded')
  for (let n = 4; n <= 10; n++) await gateway.send('donna', `message ${n}`)
  return { donna, id, tried: receiver.wakes.length }
}

// D31
describe('a session that starts', () => {
  test.each(['SENT_TO_ME', 'TASK_STATE_CHANGED'])(
    'makes a degraded subscription to %s active: one digest of all that was missed',
    async (trigger) => {
      const clock = new FakeClock()
      await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
      await using receiver = await startReceiver()
      const { donna, id, tried } = await degraded(gateway, clock, receiver, trigger)
      receiver.respond(200)
      expect((await start(gateway, donna)).status).toBe(201)
      const digest = (await receiver.waitFor(tried + 1)).at(-1)!
      expect(digest.body).toMatchObject({ eventType: 'wake/digest', prevLogId: null, payload: { eventCount: 10 } })
      expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active', reason: null, failedInARow: 0 })
      const [recovered] = await eventsOf(gateway, 'subscription.recovered')
      expect(recovered).toMatchObject({
        actor: '@donna',
        data: { subscriptionId: id, reason: '3 events failed in a row; the last: http-503' },
      })
    },
  )

  test('leaves alone what was paused by hand, and the subscriptions of others', async () => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
    await using receiver = await startReceiver()
    const { donna, id } = await degraded(gateway, clock, receiver, 'SENT_TO_ME')
    const paused = await gateway.subscribe(donna, receiver.url)
    await patch(gateway, donna, paused.id, { status: 'paused' })
    const lola = await gateway.addAgent('lola')
    await start(gateway, lola)
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'degraded' })
    await start(gateway, donna)
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active' })
    expect(await stateOf(gateway, donna, paused.id)).toMatchObject({ status: 'paused' })
  })

  test('leaves degraded what a grantee pointed somewhere', async () => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
    await using receiver = await startReceiver(410)
    const donna = await gateway.addAgent('donna')
    const bob = await gateway.addAgent('bob')
    const grant = { grantee: '@bob', scope: 'CAN_MANAGE_SUBSCRIPTIONS_OF' }
    await gateway.call('POST', '/v1/permissions', grant, { key: donna.key })
    const request = { trigger: 'SENT_TO_ME', agentIdentity: '@donna', harnessTargetMetadata: { url: receiver.url } }
    const { body } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: bob.key })
    const id = body.subscriptionId
    await gateway.send('donna', 'hello')
    await untilStatus(gateway, donna, id, 'degraded')
    await start(gateway, donna)
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'degraded' })
  })
})
