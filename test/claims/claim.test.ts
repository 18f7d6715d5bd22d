import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Claim, nextStep, silenceMs, stalenessOf } from '../../src/claims/claim.ts'

const now = Date.parse('2026-05-28T10:00:00.000Z')
const claim = (fields: Partial<Claim> = {}): Claim => ({
  projectId: 'default',
  ref: 'issue-7',
  ownerId: 'donna',
  owner: '@donna',
  claimedAt: now - 1000,
  lastSeenAt: now,
  ...fields,
})

describe('what a caller may do about a ref (S4-7, S4-8)', () => {
  test.each([
    ['nobody has it', undefined, 'take'],
    ['it is its own', claim({ ownerId: 'mike', owner: '@mike' }), 'renew'],
    ['it is its own, and stale', claim({ ownerId: 'mike', owner: '@mike', lastSeenAt: 0 }), 'renew'],
    ['its owner was just here', claim(), 'refuse'],
    ['its owner was silent for almost six hours', claim({ lastSeenAt: now - silenceMs + 1 }), 'refuse'],
    ['its owner was silent for six hours', claim({ lastSeenAt: now - silenceMs }), 'take_over'],
    ['its owner was removed', claim({ owner: null }), 'take_over'],
  ] as const)('%s', (_, before, act) => {
    expect(nextStep(before, 'mike', now).act).toBe(act)
  })
})

test('a stale claim says why', () => {
  expect(stalenessOf(claim(), now)).toBeUndefined()
  expect(stalenessOf(claim({ owner: null }), now)).toBe('its owner was removed')
  const silent = claim({ lastSeenAt: now - silenceMs })
  expect(stalenessOf(silent, now)).toBe('@donna has been silent since 2026-05-28T04:00:00.000Z')
})

// S4-7
test('only a silent owner loses its claim', () => {
  fc.assert(
    fc.property(fc.nat(2 * silenceMs), fc.constantFrom('donna', 'mike'), (silence, caller) => {
      const { act } = nextStep(claim({ lastSeenAt: now - silence }), caller, now)
      if (caller === 'donna') return act === 'renew'
      return act === (silence >= silenceMs ? 'take_over' : 'refuse')
    }),
  )
})
