import { describe, expect, test } from 'vitest'
import { begin, say } from '../sessions/sessions.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { deliveriesOf, type Json, untilStatus } from '../wakes/acts.ts'

async function subscribe(gateway: TestGateway, agent: TestAgent): Promise<string> {
  const harnessTargetMetadata = { coalesceWindow: 0 }
  const request = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata }
  return (await gateway.call('POST', '/v1/wake-subscriptions', request, { key: agent.key })).body.subscriptionId
}

const heldOf = async (gateway: TestGateway, agent: TestAgent, id: string): Promise<Json[]> =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}/held`, undefined, { key: agent.key })).body.held

const subjectsOf = (wakes: readonly { body: Json }[]): string[] => wakes.map(({ body }) => body.payload.subject)

describe('a stream says what its reader can do', () => {
  // S1-9, S1-11, S1-12
  test.each([
    ['is unknown', undefined],
    ['works', { state: 'active', source: 'bridge-daemon', activeTurnId: 't' }],
    ['waits for an approval', { state: 'waitingOnApproval', source: 'bridge-daemon', activeTurnId: 't' }],
    ['is idle', { state: 'idle', source: 'bridge-daemon' }],
  ])('append-only: it gets an immediate wake while its harness %s, and may hold it', async (_, presence) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id], ['append-only'])
    await begin(gateway, donna)
    if (presence) await say(gateway, donna, presence)
    await gateway.send('donna', 'now')
    const [wake] = await reader.waitFor(1)
    expect(await reader.report(wake!.eventId, 'held', 'the harness works')).toBe('pending')
    expect(await reader.report(wake!.eventId, 'turn_started')).toBe('delivered')
    expect(await heldOf(gateway, donna, id)).toEqual([])
  })

  // S1-13
  test('append-only: nothing is handed over while the user types', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id], ['append-only', 'turn/start', 'turn/steer'])
    await begin(gateway, donna)
    await say(gateway, donna, { state: 'userTyping', source: 'bridge-daemon' })
    await gateway.send('donna', 'later')
    expect(await heldOf(gateway, donna, id)).toMatchObject([{ reason: 'user_typing' }])
    expect(reader.wakes).toEqual([])
  })

  // S1-10, S1-11
  test('turn/start and turn/steer: each in the state that it is for, with what the session says beside it', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id], ['turn/start'])
    await begin(gateway, donna)
    await say(gateway, donna, { state: 'idle', source: 'bridge-daemon' })
    await gateway.send('donna', 'starts')
    await reader.report((await reader.waitFor(1))[0]!.eventId, 'turn_started')
    await say(gateway, donna, { state: 'active', source: 'bridge-daemon', activeTurnId: 't' })
    await gateway.send('donna', 'held')
    expect(await heldOf(gateway, donna, id)).toMatchObject([{ reason: 'turn_active' }])
    await say(gateway, donna, {
      state: 'active',
      source: 'bridge-daemon',
      activeTurnId: 't',
      capabilities: ['turn/steer'],
    })
    // The wake that was held until now goes first.
    const [, digest] = await reader.waitFor(2)
    expect(digest!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 1 } })
    await reader.report(digest!.eventId, 'turn_started')
    await gateway.send('donna', 'steers')
    expect(subjectsOf(await reader.waitFor(3))[2]).toBe('steers')
  })

  test('only as long as it is open', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    const first = await readWakes(gateway, donna, [id], ['append-only', 'append-only'])
    expect(first.status).toBe(200)
    await first[Symbol.asyncDispose]()
    await untilStatus(gateway, donna, id, 'waiting')
    await using second = await readWakes(gateway, donna, [id], [])
    await gateway.send('donna', 'nothing is known')
    expect(await heldOf(gateway, donna, id)).toMatchObject([{ reason: 'presence_unknown' }])
    expect(second.wakes).toEqual([])
  })

  test('in words of a list: any other is refused by name', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    const path = `/v1/wake-stream?subscription=${id}&capabilities=teleport`
    const { status, body } = await gateway.call('GET', path, undefined, { key: donna.key })
    expect(status).toBe(400)
    expect(body).toMatchObject({ field: 'capabilities' })
    expect(body.detail).toContain('append-only')
  })
})

describe('written, and nothing more will be known', () => {
  test('the cursor passes the wake, and its mail waits for another route too', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'one')
    await gateway.send('donna', 'two')
    const [one] = await reader.waitFor(1)
    expect(await reader.report(one!.eventId, 'written')).toBe('pending')
    const final = { isFinal: true, source: 'tmux' }
    expect(await reader.report(one!.eventId, 'written', 'keys were typed', final)).toBe('written')
    expect(subjectsOf(await reader.waitFor(2))).toEqual(['one', 'two'])
    const record = await until(
      async () => (await deliveriesOf(gateway, donna, id)).at(-1)!,
      ({ outcome }) => outcome !== 'pending',
    )
    expect(record).toMatchObject({ outcome: 'written', step: 'written' })
    const { body } = await gateway.call('GET', `/v1/messages/${one!.body.payload.messageId}`)
    expect(body.recipients).toMatchObject([{ status: 'sent', deliveryMethod: null }])
  })

  test('goes with no other step', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const receipts = [{ eventId: 'e', step: 'held', isFinal: true }]
    const { status, body } = await gateway.call('POST', '/v1/wake-stream/receipts', receipts, { key: donna.key })
    expect(status).toBe(400)
    expect(body.detail).toContain('isFinal')
  })

  test('is the answer to a test wake that proves no more', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id])
    const tested = gateway.call('POST', `/v1/wake-subscriptions/${id}/test`, undefined, { key: donna.key })
    const [wake] = await reader.waitFor(1)
    expect(await reader.report(wake!.eventId, 'written', undefined, { isFinal: true })).toBe('written')
    expect((await tested).body.attempt).toMatchObject({ error: null })
  })
})
