import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { verifyWake } from '../../src/words/signature.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { advanceUntil, deliveriesOf, eventsOf, patch, remove, stateOf, untilAttempts } from './acts.ts'

/** No jitter and time by hand: the schedule to the millisecond. */
async function startAt(how: Parameters<typeof startReceiver>[0], env: Record<string, string> = {}) {
  const clock = new FakeClock()
  const started = clock.now()
  const gateway = await startGateway({ env, overrides: { clock, random: () => 0 } })
  const receiver = await startReceiver(how)
  const donna = await gateway.addAgent('donna')
  const { id, signingKey } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  return {
    clock,
    gateway,
    receiver,
    donna,
    id,
    signingKey,
    /** When each attempt at the newest emission was made, in ms since the start. */
    times: (delivery: { attempts: { at: string }[] }) => delivery.attempts.map(({ at }) => Date.parse(at) - started),
    attempts: (count: number, outcome?: string) => untilAttempts(gateway, donna, id, count, clock, outcome),
    async [Symbol.asyncDispose]() {
      await receiver[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

describe('the schedule', () => {
  // S1-34
  test('is 0, 1, 3 and 7 seconds, then the event has failed and the next one follows', async () => {
    await using world = await startAt(500)
    const { clock, gateway, receiver, donna, id } = world
    await gateway.send('donna', 'first')
    for (const [made, waitMs] of [
      [1, 1000],
      [2, 2000],
      [3, 4000],
    ] as const) {
      expect(await world.attempts(made)).toMatchObject({ outcome: 'pending' })
      clock.advance(waitMs - 1)
      await stateOf(gateway, donna, id)
      expect(receiver.wakes).toHaveLength(made)
      clock.advance(1)
    }
    const failed = await world.attempts(4, 'failed')
    expect(world.times(failed)).toEqual([0, 1000, 3000, 7000])
    expect(failed.attempts).toMatchObject(Array(4).fill({ status: 500, error: null }))
    expect(new Set(receiver.wakes.map(({ body }) => body.eventId)).size).toBe(1)
    expect(new Set(receiver.wakes.map(({ raw }) => raw)).size).toBe(1)

    receiver.respond(200)
    await gateway.send('donna', 'second')
    const wakes = await receiver.waitFor(5)
    // D15: the hole shows.
    expect(wakes[4]!.body).toMatchObject({ prevLogId: failed.logIds[0], payload: { subject: 'second' } })
    const [failure] = await eventsOf(gateway, 'wake.failed')
    expect(failure.data).toMatchObject({ subscriptionId: id, eventId: failed.eventId, reason: 'http-500' })
    const state = await until(
      () => stateOf(gateway, donna, id),
      ({ failedInARow }) => failedInARow === 0,
    )
    expect(state).toMatchObject({ status: 'active' })
  })

  test('ends with the first success, and each attempt has a new signature', async () => {
    await using world = await startAt((_wake, res, nth) => res.writeHead(nth < 3 ? 503 : 204).end())
    const { clock, gateway, receiver, signingKey } = world
    await gateway.send('donna', 'third time lucky')
    await world.attempts(1)
    clock.advance(1000)
    await world.attempts(2)
    clock.advance(2000)
    const delivered = await world.attempts(3, 'delivered')
    expect(delivered.attempts.map(({ status }: { status: number }) => status)).toEqual([503, 503, 204])
    const stamps = receiver.wakes.map(({ headers }) => Number(headers['webhook-timestamp']))
    expect(stamps.map((stamp) => stamp - stamps[0]!)).toEqual([0, 1, 3])
    for (const [nth, { raw, headers }] of receiver.wakes.entries()) {
      expect(verifyWake({ body: raw, headers, keys: [signingKey], nowSeconds: stamps[nth]! })).toMatchObject({
        ok: true,
      })
    }
  })

  test.each([408, 425, 429])('a %i is retried at the time of its Retry-After', async (status) => {
    // D4
    await using world = await startAt((_wake, res, nth) =>
      nth === 1 ? res.writeHead(status, { 'retry-after': '5' }).end() : res.end(),
    )
    await world.gateway.send('donna', 'slow down')
    const pending = await world.attempts(1)
    expect(Date.parse(pending.nextAttemptAt) - Date.parse(pending.attempts[0].at)).toBe(5000)
    world.clock.advance(4999)
    await stateOf(world.gateway, world.donna, world.id)
    expect(world.receiver.wakes).toHaveLength(1)
    world.clock.advance(1)
    expect(world.times(await world.attempts(2, 'delivered'))).toEqual([0, 5000])
  })

  test('a long Retry-After is left to the store, and honoured', async () => {
    await using world = await startAt((_wake, res, nth) =>
      nth === 1 ? res.writeHead(503, { 'retry-after': '120' }).end() : res.end(),
    )
    const { clock, gateway, receiver, donna, id } = world
    await gateway.send('donna', 'come back later')
    await world.attempts(1)
    for (let i = 0; i < 11; i++) {
      clock.advance(10_000)
      await stateOf(gateway, donna, id)
    }
    expect(receiver.wakes).toHaveLength(1)
    clock.advance(10_000)
    expect(world.times(await world.attempts(2, 'delivered'))).toEqual([0, 120_000])
  })
})

describe('outcomes that count as no answer', () => {
  test('a redirect, which is never followed', async () => {
    await using elsewhere = await startReceiver()
    await using world = await startAt((_wake, res) => res.writeHead(307, { location: elsewhere.url }).end())
    await world.gateway.send('donna', 'go away')
    await world.attempts(1)
    await advanceUntil(
      world.clock,
      1000,
      () => deliveriesOf(world.gateway, world.donna, world.id),
      ([delivery]) => delivery.outcome === 'failed',
    )
    expect(world.receiver.wakes).toHaveLength(4)
    expect(elsewhere.wakes).toHaveLength(0)
  })

  test('a receiver that accepts and never answers', async () => {
    await using world = await startAt(
      (_wake, res, nth) => {
        if (nth > 1) res.end()
      },
      { ROUSE_WEBHOOK_TIMEOUT: '1' },
    )
    await world.gateway.send('donna', 'hello?')
    expect(await world.attempts(1)).toMatchObject({ attempts: [{ status: null, error: 'timeout' }] })
    world.clock.advance(1000)
    await world.attempts(2, 'delivered')
  })

  test('a port that nobody listens on', async () => {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    await new Promise((done) => server.close(done))
    await using world = await startAt(200)
    await patch(world.gateway, world.donna, world.id, { harnessTargetMetadata: { url: `http://127.0.0.1:${port}/` } })
    await world.gateway.send('donna', 'anybody?')
    expect(await world.attempts(1)).toMatchObject({ attempts: [{ status: null, error: 'connect' }] })
  })
})

test('an answer of any length is fine', async () => {
  await using world = await startAt((_wake, res) => res.end('x'.repeat(300 * 1024)))
  await world.gateway.send('donna', 'tell me everything')
  expect(await world.attempts(1, 'delivered')).toMatchObject({ attempts: [{ status: 200 }] })
  await world.gateway.send('donna', 'again')
  await world.receiver.waitFor(2)
})

test('the answer of a refusing receiver is stored, up to its first 2 KiB', async () => {
  await using world = await startAt((_wake, res) => res.writeHead(500).end('y'.repeat(10_000)))
  await world.gateway.send('donna', 'why?')
  await world.attempts(1)
  const { body } = await world.gateway.call('GET', `/v1/wake-subscriptions/${world.id}/deliveries`)
  expect(body.deliveries[0].attempts[0].response).toBe('y'.repeat(2048))
})

describe('a wait between two tries', () => {
  test.each(['paused', 'removed', 'moved'])('ends when the subscription is %s', async (how) => {
    await using world = await startAt(500)
    await using other = await startReceiver()
    const { clock, gateway, receiver, donna, id } = world
    await gateway.send('donna', 'first')
    await world.attempts(1)
    if (how === 'paused') await patch(gateway, donna, id, { status: 'paused' })
    if (how === 'removed') await remove(gateway, donna, id)
    if (how === 'moved') await patch(gateway, donna, id, { harnessTargetMetadata: { url: other.url } })
    await advanceUntil(
      clock,
      5000,
      () => clock.now(),
      (now) => now > Date.parse('2026-04-26T10:01:00.000Z'),
    )
    if (how === 'moved') {
      // The schedule continues, at the new address.
      const [wake] = await other.waitFor(1)
      expect(wake!.body.eventId).toBe(receiver.wakes[0]!.body.eventId)
    }
    expect(receiver.wakes).toHaveLength(1)
  })

  test('does not delay a stop', async () => {
    await using world = await startAt(500)
    await world.gateway.send('donna', 'first')
    await world.attempts(1)
    await world.gateway.stop()
    expect(world.clock.timerCount).toBe(0)
  })
})

// D31
describe('a receiver that may be away for long', () => {
  test('gets the event that waited, then one digest of what gathered, and nothing overtakes', async () => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock } })
    const receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const sub = await gateway.subscribe(donna, receiver.url, {
      trigger: 'SENT_TO_ME',
      harnessTargetMetadata: { retryForSeconds: 86_400 },
    })
    await receiver[Symbol.asyncDispose]()
    for (const text of ['one', 'two', 'three', 'four']) await gateway.send('donna', text)
    const since = clock.now()
    await advanceUntil(
      clock,
      60_000,
      async () => {
        await stateOf(gateway, donna, sub.id)
        return clock.now() - since
      },
      (awayMs) => awayMs > 3 * 3_600_000,
    )
    const state = await stateOf(gateway, donna, sub.id)
    expect(state).toMatchObject({ status: 'active', failedInARow: 0, lastEmittedLogId: null })
    const [pending] = await deliveriesOf(gateway, donna, sub.id)
    expect(pending).toMatchObject({ outcome: 'pending', eventCount: 1 })
    // The first attempt, which says since when it is away, and the latest.
    expect(pending.attempts.length).toBe(12)
    expect(Date.parse(pending.attempts[0].at) - since).toBeLessThan(60_000)
    await using back = await startReceiver(200, receiver.port)
    await advanceUntil(
      clock,
      15_000,
      async () => {
        await stateOf(gateway, donna, sub.id)
        return back.wakes.length
      },
      (count) => count === 2,
    )
    expect(back.wakes.map(({ body }) => body)).toMatchObject([
      { eventType: 'wake/sent_to_me', eventId: pending.eventId, payload: { subject: 'one' } },
      { eventType: 'wake/digest', prevLogId: back.wakes[0]!.body.logId, payload: { eventCount: 3 } },
    ])
  })

  test('fails when it has been away for longer than that', async () => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock } })
    const receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const sub = await gateway.subscribe(donna, receiver.url, {
      trigger: 'SENT_TO_ME',
      harnessTargetMetadata: { retryForSeconds: 600 },
    })
    await receiver[Symbol.asyncDispose]()
    const since = clock.now()
    await gateway.send('donna', 'one')
    const failed = await advanceUntil(
      clock,
      10_000,
      async () => (await deliveriesOf(gateway, donna, sub.id))[0],
      (delivery) => delivery?.outcome === 'failed',
    )
    expect(Date.parse(failed.updatedAt) - since).toBeGreaterThanOrEqual(600_000)
    expect(await stateOf(gateway, donna, sub.id)).toMatchObject({ status: 'active', failedInARow: 1 })
  })

  test.each([-1, 1.5, 259_201, 'long'])('cannot be away for %s seconds', async (retryForSeconds) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const harnessTargetMetadata = { url: 'http://127.0.0.1:9/', retryForSeconds }
    const request = { trigger: 'SENT_TO_ME', harnessTargetMetadata }
    const { status, body } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: donna.key })
    expect(status).toBe(400)
    expect(body.detail).toContain('harnessTargetMetadata.retryForSeconds')
  })
})
