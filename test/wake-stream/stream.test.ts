import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { deliveriesOf, type Json, patch, remove, stateOf, untilStatus } from '../wakes/acts.ts'

async function subscribe(
  gateway: TestGateway,
  agent: TestAgent,
  input: Json = {},
): Promise<{ id: string; signingKey: string }> {
  const { harnessTargetMetadata, ...rest } = input
  const metadata = { coalesceWindow: 0, ...harnessTargetMetadata }
  const request = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: metadata, ...rest }
  const { status, body } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: agent.key })
  expect(status).toBe(201)
  return { id: body.subscriptionId, signingKey: body.signingKey }
}

const subjectsOf = (wakes: readonly { body: Json }[]): string[] => wakes.map(({ body }) => body.payload.subject)

describe('a subscription that is read as a stream', () => {
  // D28
  test('waits, with the reason, until a stream is connected', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'waiting', reason: 'no channel is connected' })
    const reader = await readWakes(gateway, donna, [id])
    expect(reader.status).toBe(200)
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active', reason: null })
    await reader[Symbol.asyncDispose]()
    await untilStatus(gateway, donna, id, 'waiting')
  })

  // S1-33
  test('gets each wake with the signatures of a webhook', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id, signingKey } = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'Please review')
    const [wake] = await reader.waitFor(1)
    expect(wake!.body).toMatchObject({ eventType: 'wake/sent_to_me', eventId: wake!.eventId, subscriptionId: id })
    expect(() => new Webhook(signingKey).verify(wake!.raw, { ...wake!.fields })).not.toThrow()
    expect(wake!.fields['x-neo-wake-signature']).toMatch(/^[0-9a-f]{64}$/)
  })

  test('moves its cursor with the receipt, and not before', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'one')
    await gateway.send('donna', 'two')
    const [one] = await reader.waitFor(1)
    expect(await reader.report(one!.eventId, 'held')).toBe('pending')
    expect(await stateOf(gateway, donna, id)).toMatchObject({ lastEmittedLogId: null })
    expect(await reader.report(one!.eventId, 'delivered')).toBe('delivered')
    expect(subjectsOf(await reader.waitFor(2))).toEqual(['one', 'two'])
    expect(reader.wakes[1]!.body.prevLogId).toBe(one!.body.logId)
    expect(await reader.report(one!.eventId, 'resolved')).toBe('delivered')
    await until(
      async () => (await deliveriesOf(gateway, donna, id)).at(-1),
      (delivery) => delivery.outcome === 'delivered' && delivery.step === 'resolved',
    )
  })

  test('has as many wakes open as it asks for', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna, { harnessTargetMetadata: { maxInFlight: 3 } })
    await using reader = await readWakes(gateway, donna, [id])
    for (const text of ['1', '2', '3', '4']) await gateway.send('donna', text)
    await reader.waitFor(3)
    // The cursor follows the oldest: the fourth comes when the first is done.
    await reader.report(reader.wakes[1]!.eventId, 'delivered')
    expect(reader.wakes.length).toBe(3)
    await reader.report(reader.wakes[0]!.eventId, 'delivered')
    expect(subjectsOf(await reader.waitFor(4))).toEqual(['1', '2', '3', '4'])
  })

  // D28, D29
  test('gets what gathered without a stream as one digest', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    await (await readWakes(gateway, donna, [id]))[Symbol.asyncDispose]()
    await untilStatus(gateway, donna, id, 'waiting')
    for (let count = 0; count < 10; count++) await gateway.send('donna', `message ${count}`)
    await using reader = await readWakes(gateway, donna, [id])
    const [digest] = await reader.waitFor(1)
    expect(digest!.body).toMatchObject({ eventType: 'wake/digest', payload: { reason: 'waiting', eventCount: 10 } })
    await reader.report(digest!.eventId, 'delivered')
    await gateway.send('donna', 'and now')
    const [, next] = await reader.waitFor(2)
    expect(next!.body).toMatchObject({ eventType: 'wake/sent_to_me', prevLogId: digest!.body.logId })
  })

  test('is written an open wake again by the next stream, as it was, before anything newer', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    const first = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'open')
    const [open] = await first.waitFor(1)
    await first[Symbol.asyncDispose]()
    await untilStatus(gateway, donna, id, 'waiting')
    await gateway.send('donna', 'later')
    await using second = await readWakes(gateway, donna, [id])
    const [again] = await second.waitFor(1)
    expect(again!.raw).toBe(open!.raw)
    await second.report(again!.eventId, 'delivered')
    const [, digest] = await second.waitFor(2)
    expect(digest!.body).toMatchObject({
      eventType: 'wake/digest',
      prevLogId: open!.body.logId,
      payload: { eventCount: 1 },
    })
  })

  test('takes a receipt that comes after the stream has ended', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    const first = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'slow work')
    const [wake] = await first.waitFor(1)
    await first[Symbol.asyncDispose]()
    await untilStatus(gateway, donna, id, 'waiting')
    expect(await first.report(wake!.eventId, 'delivered')).toBe('delivered')
    await using second = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'next')
    const [next] = await second.waitFor(1)
    expect(next!.body).toMatchObject({ prevLogId: wake!.body.logId })
    expect(next!.eventId).not.toBe(wake!.eventId)
  })

  test('goes to the newest stream, and the older one is notified and ends', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    await using first = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'open')
    const [open] = await first.waitFor(1)
    await using second = await readWakes(gateway, donna, [id])
    await first.ended()
    expect(first.released).toEqual([{ subscriptionId: id, reason: 'replaced' }])
    const [again] = await second.waitFor(1)
    expect(again!.eventId).toBe(open!.eventId)
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active' })
  })

  test('ends its stream when it is removed, or goes elsewhere', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const one = await subscribe(gateway, donna)
    const two = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [one.id, two.id])
    await remove(gateway, donna, one.id)
    await until(
      () => reader.released.length,
      (count) => count === 1,
    )
    expect(reader.hasEnded).toBe(false)
    await patch(gateway, donna, two.id, { harnessTarget: 'disabled' })
    await reader.ended()
    expect(reader.released.map(({ subscriptionId }) => subscriptionId)).toEqual([one.id, two.id])
  })
})

describe('a receipt', () => {
  // S1-34, D31
  test('that says failed has the wake sent again like a webhook that fails', async () => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'hard')
    for (let attempt = 1; attempt <= 4; attempt++) {
      const wakes = await until(
        () => {
          clock.advance(5_000)
          return reader.wakes
        },
        ({ length }) => length >= attempt,
      )
      expect(wakes[attempt - 1]!.eventId).toBe(wakes[0]!.eventId)
      const outcome = await reader.report(wakes[0]!.eventId, 'failed', 'exit code 7')
      expect(outcome).toBe(attempt < 4 ? 'pending' : 'failed')
    }
    await gateway.send('donna', 'easy')
    const wakes = await reader.waitFor(5)
    expect(wakes[4]!.body.payload.subject).toBe('easy')
    const [, failed] = await deliveriesOf(gateway, donna, id)
    expect(failed).toMatchObject({ outcome: 'failed', step: 'failed' })
    expect(failed.attempts.map(({ response }: Json) => response)).toEqual(Array(4).fill('exit code 7'))
    expect(await stateOf(gateway, donna, id)).toMatchObject({ failedInARow: 1 })
  })

  test('that refuses one wake says nothing against the receiver', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id])
    for (const text of ['1', '2', '3', '4']) await gateway.send('donna', text)
    for (let count = 1; count <= 4; count++) {
      const wakes = await reader.waitFor(count)
      expect(await reader.report(wakes[count - 1]!.eventId, 'expired')).toBe('failed')
    }
    await until(
      async () => (await deliveriesOf(gateway, donna, id)).filter(({ outcome }) => outcome === 'failed').length,
      (count) => count === 4,
    )
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active', failedInARow: 0 })
  })

  test('for a wake of another agent, or of nobody, is unknown', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const mike = await gateway.addAgent('mike')
    const { id } = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id])
    await gateway.send('donna', 'hers')
    const [wake] = await reader.waitFor(1)
    const receipts = [
      { eventId: wake!.eventId, step: 'delivered' },
      { eventId: 'no-such-wake', step: 'delivered' },
    ]
    const { body } = await gateway.call('POST', '/v1/wake-stream/receipts', receipts, { key: mike.key })
    expect(body.receipts.map(({ outcome }: Json) => outcome)).toEqual(['unknown', 'unknown'])
    expect(await reader.report(wake!.eventId, 'delivered')).toBe('delivered')
  })

  test('with a step that does not exist is refused by name, and records nothing', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const answer = await gateway.call('POST', '/v1/wake-stream/receipts', [{ eventId: 'e', step: 'done' }], {
      key: donna.key,
    })
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toContain('step')
  })
})

describe('a stream', () => {
  test('is for the owner of a subscription that is read as one', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const mike = await gateway.addAgent('mike')
    const { id } = await subscribe(gateway, donna)
    expect((await readWakes(gateway, mike, [id])).status).toBe(404)
    const { id: hook } = await gateway.subscribe(donna, 'http://127.0.0.1:9/', { trigger: 'SENT_TO_ME' })
    expect((await readWakes(gateway, donna, [hook])).status).toBe(400)
    expect((await readWakes(gateway, donna, [])).status).toBe(400)
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'waiting' })
  })

  test('shows a test wake, and its receipt is the answer', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    const path = `/v1/wake-subscriptions/${id}/test`
    expect((await gateway.call('POST', path, undefined, { key: donna.key })).status).toBe(400)
    await using reader = await readWakes(gateway, donna, [id])
    const tested = gateway.call('POST', path, undefined, { key: donna.key })
    const [wake] = await reader.waitFor(1)
    expect(wake!.body.eventType).toBe('wake/test')
    expect(await reader.report(wake!.eventId, 'delivered')).toBe('delivered')
    expect((await tested).body.attempt).toMatchObject({ error: null })
  })

  // D34
  test('that starts a process for each wake is not gated by presence, one that speaks into a session is', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { id } = await subscribe(gateway, donna)
    const held = async (): Promise<Json[]> =>
      (await gateway.call('GET', `/v1/wake-subscriptions/${id}/held`, undefined, { key: donna.key })).body.held
    await using into = await readWakes(gateway, donna, [id], [])
    await gateway.send('donna', 'into a session')
    expect(await held()).toMatchObject([{ reason: 'presence_unknown' }])
    await using reader = await readWakes(gateway, donna, [id])
    await into.ended()
    await gateway.send('donna', 'a process')
    expect(subjectsOf(await reader.waitFor(1))).toEqual(['a process'])
    expect(into.wakes).toEqual([])
  })
})
