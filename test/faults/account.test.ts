import { describe, expect, test } from 'vitest'
import { account, type Owed } from './account.ts'
import type { Arrival } from './inbox.ts'

const owed: Owed = { subscription: '@donna tasks', logIds: [3, 5, 8, 9], failed: new Set(), inOrder: true }

function single(logId: number, prevLogId: number | null, eventId = `event-${logId}`): Arrival {
  return { eventId, logId, prevLogId, fromLogId: logId, eventCount: 1, refs: undefined, latencyMs: undefined }
}

function digest(fromLogId: number, logId: number, prevLogId: number | null, refs: number[]): Arrival {
  return { ...single(logId, prevLogId, 'digest'), fromLogId, eventCount: refs.length, refs }
}

const all = [single(3, null), single(5, 3), single(8, 5), single(9, 8)]

describe('the books', () => {
  test.each<[string, readonly Arrival[], Partial<Owed>, { repeats: number }]>([
    ['each once', all, {}, { repeats: 0 }],
    ['one twice, under its eventId', [...all, single(5, 3)], {}, { repeats: 1 }],
    ['a digest of all', [digest(3, 9, null, [3, 5, 8, 9])], {}, { repeats: 0 }],
    ['one missing, and on record', [all[0]!, all[1]!, all[3]!], { failed: new Set([8]) }, { repeats: 0 }],
    ['out of order, where several may be in flight', all.toReversed(), { inOrder: false }, { repeats: 0 }],
  ])('agree: %s', (_, arrivals, fields, row) => {
    expect(account({ ...owed, ...fields }, arrivals)).toMatchObject({ ...row, accepted: 4, faults: [] })
  })

  test.each<[string, readonly Arrival[], RegExp]>([
    ['one missing', all.slice(0, 3), /1 are missing: 9/],
    ['out of order', [all[0]!, all[2]!, all[1]!, all[3]!], /came after logId 8/],
    ['one twice, under another eventId', [...all, single(9, 8, 'another')], /under two eventIds/],
    ['the same eventId over something else', [...all, single(5, null)], /over another range/],
    ['a wrong prevLogId', [all[0]!, single(5, null), all[2]!, all[3]!], /says prevLogId null, not 3/],
    ['one that was never owed', [...all, single(10, 9)], /none of its events/],
    ['a digest that tells less than its range', [digest(3, 9, null, [3, 5, 9])], /tells 3 of the 4 events/],
  ])('do not agree: %s', (_, arrivals, fault) => {
    expect(account(owed, arrivals).faults).toContainEqual(expect.stringMatching(fault))
  })
})
