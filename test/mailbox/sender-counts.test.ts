import { expect, test } from 'vitest'
import { totalMaxFor } from '../../src/mailbox/limits/mail-limits.ts'
import { SenderCounts } from '../../src/mailbox/limits/sender-counts.ts'

const minuteMs = 60_000
const pair = (senderId: string, recipientId = 'donna') => ({ senderId, recipientId })

test.each([
  [0, 1_200],
  [1, 1_192],
  [74, 608],
  [75, 600],
  [600, 600],
])('a sender of %i messages may send while its recipient has fewer than %i', (sent, max) => {
  expect(totalMaxFor(sent, 600)).toBe(max)
})

test('messages of different senders and to different recipients are counted apart, until the window of the recipient ends', () => {
  const counts = new SenderCounts()
  for (let n = 0; n < 3; n++) counts.add(pair('mallory'), 0, n * minuteMs)
  counts.add(pair('mallory', 'lola'), 9 * minuteMs, 9 * minuteMs)
  expect([counts.read(pair('mallory'), 9 * minuteMs), counts.read(pair('ines'), 9 * minuteMs)]).toEqual([3, 0])
  expect(counts.read(pair('mallory'), 10 * minuteMs)).toBe(0)
  expect(counts.read(pair('mallory', 'lola'), 10 * minuteMs)).toBe(1)
  counts.add(pair('mallory'), 11 * minuteMs, 11 * minuteMs)
  expect(counts.read(pair('mallory'), 11 * minuteMs)).toBe(1)
})

test('a window that began earlier than was known ends earlier, and keeps what was counted', () => {
  const counts = new SenderCounts()
  counts.add(pair('mallory'), 5 * minuteMs, 5 * minuteMs)
  counts.add(pair('mallory'), 0, 5 * minuteMs)
  counts.add(pair('mallory'), 5 * minuteMs, 5 * minuteMs)
  expect(counts.read(pair('mallory'), 9 * minuteMs)).toBe(3)
  expect(counts.read(pair('mallory'), 10 * minuteMs)).toBe(0)
})

test('a clock that was set back begins anew', () => {
  const counts = new SenderCounts()
  counts.add(pair('mallory'), 60 * minuteMs, 60 * minuteMs)
  expect(counts.read(pair('mallory'), 0)).toBe(0)
})

test('there is a largest number of pairs: those that were silent for longest go first, and an active one stays', () => {
  const counts = new SenderCounts(100)
  for (let n = 0; n < 1_000; n++) {
    counts.add(pair('mallory'), 0, n)
    counts.add(pair(`sender-${n}`), 0, n)
  }
  expect(counts.size).toBe(100)
  expect(counts.read(pair('mallory'), 1_000)).toBe(1_000)
  expect([counts.read(pair('sender-0'), 1_000), counts.read(pair('sender-999'), 1_000)]).toEqual([0, 1])
})

test('pairs whose window is over are forgotten as others send', () => {
  const counts = new SenderCounts()
  for (let n = 0; n < 100; n++) counts.add(pair(`sender-${n}`), 0, n)
  for (let n = 0; n < 100; n++) counts.add(pair('ines'), 20 * minuteMs, 20 * minuteMs)
  expect(counts.size).toBe(1)
})
