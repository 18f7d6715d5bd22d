import { expect, test } from 'vitest'
import { createSeenWakes } from '../../../src/cli/listen/seen-wakes.ts'
import type { Wake } from '../../../src/client/wakes/wake.ts'

const wake = (eventId: string, logId: number, prevLogId: number | null, subscriptionId = 'WAKE_SUB:1'): Wake => ({
  eventType: 'wake/sent_to_me',
  eventId,
  logId,
  prevLogId,
  subscriptionId,
  payload: {},
})

test('a wake that comes again was seen before', () => {
  const seen = createSeenWakes()
  expect([seen.add(wake('a', 7, null)), seen.add(wake('a', 7, null)), seen.add(wake('b', 8, 7))]).toEqual([
    true,
    false,
    true,
  ])
})

test('a wake that follows on one that never came has a gap before it, and neither a replay nor another subscription has', () => {
  const seen = createSeenWakes()
  expect(seen.gapBefore(wake('a', 7, null))).toBeUndefined()
  seen.add(wake('a', 7, null))
  expect(seen.gapBefore(wake('b', 9, 8))).toBe(7)
  expect(seen.gapBefore(wake('c', 8, 7))).toBeUndefined()
  expect(seen.gapBefore(wake('d', 5, 3))).toBeUndefined()
  expect(seen.gapBefore(wake('e', 9, 8, 'WAKE_SUB:2'))).toBeUndefined()
})
