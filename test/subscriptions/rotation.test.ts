import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signingFormerKeys } from '../../src/registry/subscriptions/former-keys.ts'
import { verifyWake } from '../../src/words/signature.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { type ReceivedWake, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { eventsOf, logIdsOf, patch, sendMany, stateOf } from '../wakes/acts.ts'

const hex = (key: string, { raw }: ReceivedWake) => createHmac('sha256', key).update(raw).digest('hex')

// S1-36
test('during the overlap both keys sign; after it only the new one', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id, signingKey: old } = await gateway.subscribe(donna, receiver.url)
  await gateway.send('donna', 'before')
  await receiver.waitFor(1)
  const { body } = await patch(gateway, donna, id, { rotateSigningKey: true, overlapSeconds: 60 })
  const fresh: string = body.signingKey
  expect(fresh).not.toBe(old)
  expect(body.currentState.previousKeyValidUntil).toBe('2026-04-26T10:01:00.000Z')
  clock.advance(59_999)
  await gateway.send('donna', 'during')
  await receiver.waitFor(2)
  clock.advance(1)
  await gateway.send('donna', 'after')
  await receiver.waitFor(3)

  const [before, during, after] = receiver.wakes as [ReceivedWake, ReceivedWake, ReceivedWake]
  expect(before.headers['x-neo-wake-signature']).toBe(hex(old, before))
  expect(before.headers).not.toHaveProperty('x-neo-wake-signature-previous')
  expect(during.headers['x-neo-wake-signature']).toBe(hex(fresh, during))
  expect(during.headers['x-neo-wake-signature-previous']).toBe(hex(old, during))
  expect(after.headers['x-neo-wake-signature']).toBe(hex(fresh, after))
  expect(after.headers).not.toHaveProperty('x-neo-wake-signature-previous')
  expect([before, during, after].map((wake) => [verifies(wake, old), verifies(wake, fresh)])).toEqual([
    [true, false],
    [true, true],
    [false, true],
  ])
  expect(await stateOf(gateway, donna, id)).not.toHaveProperty('previousKeyValidUntil')
})

test('without an overlap the old key is gone at once', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id, signingKey: old } = await gateway.subscribe(donna, receiver.url)
  const { body } = await patch(gateway, donna, id, { rotateSigningKey: true, overlapSeconds: 0 })
  await gateway.send('donna', 'after')
  const [wake] = await receiver.waitFor(1)
  const headers = wake!.headers as Record<string, string>
  expect(() => new Webhook(old).verify(wake!.raw, headers)).toThrow()
  new Webhook(body.signingKey).verify(wake!.raw, headers)
})

// D36
test('every key signs for the overlap that its rotation promised, also when others follow', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id, signingKey } = await gateway.subscribe(donna, receiver.url)
  const keys = [signingKey]
  for (const overlapSeconds of [300, 60, 200]) {
    const { status, body } = await patch(gateway, donna, id, { rotateSigningKey: true, overlapSeconds })
    expect([status, body.currentState.previousKeyValidUntil]).toEqual([200, after(clock, overlapSeconds)])
    keys.push(body.signingKey)
    clock.advance(1000)
  }
  const refused = await patch(gateway, donna, id, { rotateSigningKey: true, overlapSeconds: 10 })
  expect([refused.status, refused.body.code]).toEqual([409, 'rotation-too-soon'])
  // The second of the keys signs until 61 s after the start.
  expect([refused.body.nextRotationAt, refused.body.field]).toEqual(['2026-04-26T10:01:01.000Z', 'rotateSigningKey'])
  expect(refused.body.detail).toContain('2026-04-26T10:01:01.000Z')

  const [first, second, third, current] = keys as [string, string, string, string]
  const signersOf = async (count: number): Promise<string[]> => {
    await gateway.send('donna', `wake ${count}`)
    const wake = (await receiver.waitFor(count))[count - 1]!
    const headers = wake.headers as Record<string, string>
    const signers = keys.filter((key) => verifies(wake, key))
    expect(headers['webhook-signature']!.split(' ')).toHaveLength(signers.length)
    expect(headers['x-neo-wake-signature']).toBe(hex(keys.at(-1)!, wake))
    const newestFormer = signers.filter((key) => key !== keys.at(-1)).at(-1)
    expect(headers['x-neo-wake-signature-previous']).toBe(newestFormer && hex(newestFormer, wake))
    return signers
  }
  expect(await signersOf(1)).toEqual([first, second, third, current])
  clock.advance(58_000)
  expect(await signersOf(2)).toEqual([first, third, current])
  // A rotation that promises its key nothing takes nothing from the others.
  const { body } = await patch(gateway, donna, id, { rotateSigningKey: true, overlapSeconds: 0 })
  keys.push(body.signingKey)
  expect(await signersOf(3)).toEqual([first, third, body.signingKey])
  const rotations = await eventsOf(gateway, 'subscription.key_rotated')
  expect(rotations.at(-1)!.data.previousKeyUntil).toBe(null)
  clock.advance(240_000)
  expect(await signersOf(4)).toEqual([body.signingKey])
})

test('a former key of a clock that was a year ahead does not sign, and leaves room for others', () => {
  const now = Date.parse('2026-04-26T10:00:00.000Z')
  const formerKeys = [
    { key: 'ahead', until: now + 365 * 24 * 3_600_000 },
    { key: 'promised', until: now + 7 * 24 * 3_600_000 },
    { key: 'over', until: now },
  ]
  expect(signingFormerKeys({ formerKeys }, now).map(({ key }) => key)).toEqual(['promised'])
})

const after = (clock: FakeClock, seconds: number) => new Date(clock.now() + seconds * 1000).toISOString()

function verifies(wake: ReceivedWake, key: string): boolean {
  const nowSeconds = Number(wake.headers['webhook-timestamp'])
  return verifyWake({ body: wake.raw, headers: wake.headers, keys: [key], nowSeconds }).ok
}

test('under load every wake verifies, none is lost and the order is kept', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id, signingKey } = await gateway.subscribe(donna, receiver.url)
  const keys = [signingKey]
  const sending = sendMany(gateway, 'donna', 500)
  for (let rotation = 1; rotation <= 3; rotation++) {
    await receiver.waitFor(rotation * 50)
    const { status, body } = await patch(gateway, donna, id, { rotateSigningKey: true, overlapSeconds: 60 })
    expect(status).toBe(200)
    keys.push(body.signingKey)
  }
  await sending
  await until(
    () => new Set(logIdsOf(receiver.wakes)).size,
    (count) => count === 500,
  )
  for (const wake of receiver.wakes) {
    const headers = wake.headers as Record<string, string>
    const current = keys.findIndex((key) => hex(key, wake) === headers['x-neo-wake-signature'])
    expect(current).toBeGreaterThanOrEqual(0)
    // A receiver with a former key verifies too.
    for (const key of keys.slice(0, current + 1)) new Webhook(key).verify(wake.raw, headers)
  }
  // A wake that a rotation interrupts may arrive twice, in order and under the same eventId.
  const once = receiver.wakes.filter(({ body }, i) => body.eventId !== receiver.wakes[i - 1]?.body.eventId)
  expect(logIdsOf(once)).toEqual([...new Set(logIdsOf(receiver.wakes))].sort((a, b) => a - b))
  expect(once.map(({ body }) => body.prevLogId)).toEqual([null, ...logIdsOf(once).slice(0, -1)])
  expect(await eventsOf(gateway, 'subscription.key_rotated')).toHaveLength(3)
})
