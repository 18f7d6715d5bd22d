import { expect, test } from 'vitest'
import { guard } from '../../../src/bridge/guards/guard.ts'

const limits = { turnsAnHour: 30, wakesFromOneAgentAnHour: 20, maxTurnsAMinute: 1 }
const pair = { agent: '@donna', sender: '@olga' }
const hourMs = 3_600_000
const now = 10 * hourMs

test('fewer turns than the limits allow are let through', () => {
  expect(guard(pair, limits, {}, now)).toBeUndefined()
  expect(
    guard(pair, limits, { ofAgent: now - hourMs, ofPair: now - hourMs, ofBridge: now - 60_000 }, now),
  ).toBeUndefined()
})

test('the turns of an agent within an hour are held until the oldest of them is an hour old', () => {
  const at = now - hourMs + 1
  expect(guard(pair, limits, { ofAgent: at }, now)).toEqual({
    reason: '@donna has begun 30 turns within an hour (turnsAnHour)',
    mayAt: at + hourMs,
  })
})

test('two agents that wake each other are held, and so is a bridge that runs away', () => {
  expect(guard(pair, limits, { ofPair: now }, now)?.reason).toContain('@olga has woken @donna 20 times within an hour')
  expect(guard(pair, limits, { ofBridge: now }, now)).toEqual({
    reason: 'this bridge has begun 1 turn within a minute (maxTurnsAMinute)',
    mayAt: now + 60_000,
  })
})

test('of several the one is told that lasts longest', () => {
  const found = guard(pair, limits, { ofBridge: now, ofAgent: now - 1_000, ofPair: now - 2_000 }, now)
  expect(found?.mayAt).toBe(now - 1_000 + hourMs)
})
