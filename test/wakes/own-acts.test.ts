import { describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { patch, resync } from './acts.ts'

const statesIn = (receiver: Receiver) => receiver.wakes.map(({ body }) => body.payload.newState)

async function heldOf(gateway: TestGateway, agent: TestAgent, id: string) {
  return (await gateway.call('GET', `/v1/wake-subscriptions/${id}/held`, undefined, { key: agent.key })).body.held
}

// D17
describe('what an agent did itself', () => {
  test('wakes the other party of a task and not the one that moved it', async () => {
    await using gateway = await startGateway()
    await using ofDonna = await startReceiver()
    await using ofLola = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const lola = await gateway.addAgent('lola')
    const subscription = await gateway.subscribe(donna, ofDonna.url)
    await gateway.subscribe(lola, ofLola.url)
    const task = await gateway.send('donna', 'review this', { key: lola.key })
    await ofDonna.waitFor(1)
    await gateway.move(donna, task.id, 'working')
    await gateway.move(donna, task.id, 'completed')
    await ofLola.waitFor(2)
    const next = await gateway.send('donna', 'and this', { key: lola.key })
    await ofDonna.waitFor(2)
    expect(statesIn(ofDonna)).toEqual(['Submitted', 'Submitted'])
    expect(ofDonna.wakes.at(-1)!.body.payload.taskId).toBe(next.id)
    expect(statesIn(ofLola)).toEqual(['Working', 'Completed'])
    // D27
    expect(await heldOf(gateway, donna, subscription.id)).toMatchObject([
      { type: 'task.state_changed', action: 'store_only', reason: 'own_act' },
      { type: 'task.state_changed', action: 'store_only', reason: 'own_act' },
    ])
  })

  test('wakes it where the subscription asks for that, from the change on', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.subscribe(donna, receiver.url)
    const task = await gateway.send('donna', 'review this')
    await receiver.waitFor(1)
    const { status, body } = await patch(gateway, donna, id, { harnessTargetMetadata: { includeOwn: true } })
    expect(status).toBe(200)
    expect(body.currentState.harnessTargetMetadata).toMatchObject({ includeOwn: true })
    await gateway.move(donna, task.id, 'working')
    await receiver.waitFor(2)
    expect(statesIn(receiver)).toEqual(['Submitted', 'Working'])
  })

  test('is not sent again by a resync either', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.subscribe(donna, receiver.url)
    const task = await gateway.send('donna', 'review this')
    await receiver.waitFor(1)
    await gateway.move(donna, task.id, 'working')
    const { body } = await resync(gateway, donna, id, 0)
    expect(body.eventsReplayed).toBe(1)
    await receiver.waitFor(2)
    expect(statesIn(receiver)).toEqual(['Submitted', 'Submitted'])
  })

  test('is in its events all the same', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const task = await gateway.send('donna', 'review this')
    await gateway.move(donna, task.id, 'working')
    const { body } = await gateway.call('GET', '/v1/events', undefined, { key: donna.key })
    const moves = body.events.filter((event: { type: string }) => event.type === 'task.state_changed')
    expect(moves.map((event: { actor: string }) => event.actor)).toEqual(['@operator', '@donna'])
  })

  test('includes mail to itself', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    const mail = { to: 'donna', subject: 'a note' }
    expect((await gateway.call('POST', '/v1/messages', mail, { key: donna.key })).status).toBe(201)
    expect((await gateway.call('POST', '/v1/messages', { ...mail, subject: 'from outside' })).status).toBe(201)
    const [wake] = await receiver.waitFor(1)
    expect(wake!.body.payload.subject).toBe('from outside')
    expect(await heldOf(gateway, donna, id)).toMatchObject([{ reason: 'own_act' }])
  })
})
