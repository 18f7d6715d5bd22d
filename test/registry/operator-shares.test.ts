import { expect, test } from 'vitest'
import type { Leave } from '../../src/lib/keyed-semaphore.ts'
import { MiB } from '../../src/limits.ts'
import { operatorAllowances, operatorLimits } from '../../src/operator-limits.ts'
import { type Caller, operator } from '../../src/registry/callers/caller.ts'
import { newBulk } from '../../src/registry/shares/large-spacing.ts'
import { Shares } from '../../src/registry/shares/shares.ts'
import { FakeClock } from '../support/fake-clock.ts'

const viewer: Caller = { ...operator, keyId: 'viewer', role: 'viewer' }
const token: Caller = { ...operator, keyId: 'jwt:another', role: 'manager' }
const neverGone = new AbortController().signal
const request = () => newBulk({ what: undefined, bytes: 0, gone: () => neverGone })
const { operatorRequestsAtOnce: atOnce, operatorRequestsInLine: inLine } = operatorLimits

test('an operator key has a rate of its own; the admin key and other operators have theirs', () => {
  const clock = new FakeClock()
  const shares = new Shares(clock)
  const { max, windowMs } = operatorAllowances.operatorRequestsPerMinute
  for (let count = 0; count < max; count += 1) shares.spendRequest(viewer)
  const limitName = 'operatorRequestsPerMinute'
  expect(() => shares.spendRequest(viewer)).toThrow(
    expect.objectContaining({
      code: 'rate-limited',
      message: expect.stringMatching(/operatorRequestsPerMinute: 30000 a minute .* Wait 1 s/),
      extra: { limit: operatorLimits[limitName].max, limitName, retryAfterSeconds: 1 },
    }),
  )
  for (let count = 0; count <= max; count += 1) shares.spendRequest(operator)
  shares.spendRequest(token)
  clock.advance(windowMs)
  shares.spendRequest(viewer)
})

test('a request of an operator that costs as much as several counts as several; one of the admin key does not count', () => {
  const shares = new Shares(new FakeClock())
  const { max } = operatorAllowances.operatorRequestsPerMinute
  shares.spendRequest(viewer)
  shares.spendFurther(viewer, max - 10)
  expect(() => shares.spendFurther(viewer, 10)).toThrow(/operatorRequestsPerMinute/)
  shares.spendFurther(viewer, 9)
  expect(() => shares.spendRequest(viewer)).toThrow(/operatorRequestsPerMinute/)
  for (let count = 0; count < 3; count += 1) shares.spendFurther(operator, max)
})

test('the bytes of an operator key are counted, those of the admin key are not', () => {
  const clock = new FakeClock()
  const shares = new Shares(clock)
  const { max, windowMs } = operatorAllowances.operatorMegabytesPerMinute
  for (const caller of [viewer, operator]) shares.noteBytes(caller, (max + 1) * MiB)
  expect(() => shares.spendRequest(viewer)).toThrow(/operatorMegabytesPerMinute/)
  shares.spendRequest(operator)
  clock.advance(windowMs)
  shares.spendRequest(viewer)
})

test('an operator key has a number of requests at a time; more wait, and then are refused', async () => {
  const shares = new Shares(new FakeClock())
  const inside = Array.from({ length: atOnce.max }, () => shares.enter(viewer, request()) as Leave)
  const waiting = Array.from({ length: inLine.max }, () => shares.enter(viewer, request()))
  expect(() => shares.enter(viewer, request())).toThrow(
    expect.objectContaining({
      extra: { limit: inLine.max, limitName: 'operatorRequestsInLine', retryAfterSeconds: 1 },
    }),
  )
  for (const other of [token, operator]) {
    const leave = shares.enter(other, request())
    expect(leave).toBeTypeOf('function')
    ;(leave as Leave)()
  }
  for (const leave of inside) leave()
  for (const next of waiting) (await next)()
})

test('others do not wait for an operator key with many requests, as they do for the admin key', async () => {
  const bob: Caller = { kind: 'agent', id: 'bob', identity: '@bob', projectId: 'p', keyId: 'bob', scopes: [] }
  const shares = new Shares(new FakeClock())
  const leaveBob = shares.enter(bob, request()) as Leave
  for (let count = 0; count < 4; count += 1) shares.enter(viewer, request())
  let hasBegun = false
  void Promise.resolve(shares.enter(viewer, request())).then(() => (hasBegun = true))
  await new Promise(setImmediate)
  expect(hasBegun).toBe(false)
  expect(shares.enter(operator, request())).toBeTypeOf('function')
  leaveBob()
})
