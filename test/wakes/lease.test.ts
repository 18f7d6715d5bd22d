import { expect, test } from 'vitest'
import { Lease } from '../../src/wakes/store/lease.ts'
import { noon, subscriptionOf } from './builders.ts'

const leaseOf = () => new Lease(subscriptionOf({ cursorLogId: 10, lastEmittedLogId: 8 }), 'me', noon)

test('a lease begins at the cursor of its subscription', () => {
  const { progress, isLost } = leaseOf()
  expect(progress).toEqual({ cursorLogId: 10, lastEmittedLogId: 8, failedInARow: 0, windowUntil: 0 })
  expect(isLost).toBe(false)
})

test('a skip moves the cursor alone, and never back', () => {
  const lease = leaseOf()
  lease.skipTo(12)
  lease.skipTo(11)
  expect(lease.progress).toMatchObject({ cursorLogId: 12, lastEmittedLogId: 8 })
})

test('what was read of the progress does not change with the lease', () => {
  const lease = leaseOf()
  const { progress } = lease
  lease.advance({ ...progress, cursorLogId: 11, lastEmittedLogId: 11 })
  lease.skipTo(12)
  expect(progress.cursorLogId).toBe(10)
})

test('a lease that was lost stays lost', () => {
  const lease = leaseOf()
  lease.lose()
  lease.advance({ ...lease.progress, cursorLogId: 11 })
  expect(lease.isLost).toBe(true)
})

test('a lease is due to yield after two seconds', () => {
  const lease = leaseOf()
  expect([lease.isDueToYield(noon + 1_999), lease.isDueToYield(noon + 2_000)]).toEqual([false, true])
})
