import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DeliveryResult } from '../../src/wakes/channel.ts'
import { afterDelivery, failuresMax, type NextStep } from '../../src/wakes/rules/after-delivery.ts'
import type { Progress } from '../../src/wakes/store/lease.ts'
import { noon, subscriptionOf } from './builders.ts'

const before: Progress = { cursorLogId: 10, lastEmittedLogId: 8, failedInARow: 2, windowUntil: 5 }
const sent = { logId: 12, cursorLogId: 15 }
/** The cursor has passed what was sent, and the receiver's watermark is on it. */
const passed: Progress = { ...before, cursorLogId: 15, lastEmittedLogId: 12 }
const delivered: DeliveryResult = { outcome: 'delivered', reason: null, attempts: [] }
const failed: DeliveryResult = { outcome: 'failed', reason: 'http-500', attempts: [] }
const unfit: DeliveryResult = { outcome: 'failed', reason: 'refused', attempts: [], isOfEvent: true }
const rejected: DeliveryResult = { outcome: 'rejected', reason: 'http-410', attempts: [] }
const stopped: DeliveryResult = { outcome: 'stopped', reason: null, attempts: [] }

const after = (result: DeliveryResult, progress = before): NextStep =>
  afterDelivery(subscriptionOf(), progress, sent, result, noon)

const steps: readonly (readonly [string, DeliveryResult, number, NextStep])[] = [
  ['delivered', delivered, 0, { next: 'advance', progress: { ...passed, failedInARow: 0 } }],
  ['delivered after failures', delivered, 2, { next: 'advance', progress: { ...passed, failedInARow: 0 } }],
  ['failed first', failed, 0, { next: 'fail', outcome: 'failed', progress: { ...passed, failedInARow: 1 } }],
  ['failed second', failed, 1, { next: 'fail', outcome: 'failed', progress: { ...passed, failedInARow: 2 } }],
  [
    'failed third in a row',
    failed,
    2,
    {
      next: 'degrade',
      outcome: 'failed',
      progress: { ...passed, failedInARow: 3 },
      reason: '3 events failed in a row; the last: http-500',
    },
  ],
  [
    'failed without a reason',
    { ...failed, reason: null },
    2,
    {
      next: 'degrade',
      outcome: 'failed',
      progress: { ...passed, failedInARow: 3 },
      reason: '3 events failed in a row; the last: failed',
    },
  ],
  ['the event is at fault', unfit, 2, { next: 'fail', outcome: 'failed', progress: { ...passed, failedInARow: 2 } }],
  [
    'rejected',
    rejected,
    1,
    { next: 'degrade', outcome: 'rejected', progress: { ...before, failedInARow: 1 }, reason: 'http-410' },
  ],
  [
    'rejected without a reason',
    { ...rejected, reason: null },
    0,
    { next: 'degrade', outcome: 'rejected', progress: { ...before, failedInARow: 0 }, reason: 'rejected' },
  ],
  ['stopped', stopped, 2, { next: 'requeue' }],
]

test.each(steps)('%s', (_, result, failedInARow, step) => {
  expect(after(result, { ...before, failedInARow })).toEqual(step)
})

describe('a replay', () => {
  test.each([delivered, failed])('leaves the watermark where it is: %j', (result) => {
    const step = afterDelivery(subscriptionOf(), before, { ...sent, replayed: true }, result, noon)
    expect(step).toMatchObject({ progress: { lastEmittedLogId: before.lastEmittedLogId } })
  })
})

describe('the window after a wake', () => {
  const target = { url: 'http://127.0.0.1:9/', coalesceMode: 'window' as const }
  const leading = subscriptionOf({ coalesceMs: 30_000 })

  test.each([delivered, failed])('opens in leading mode: %j', (result) => {
    const step = afterDelivery(leading, before, sent, result, noon)
    expect(step).toMatchObject({ progress: { windowUntil: noon + 30_000 } })
  })

  test('does not open if nothing was delivered or failed', () => {
    const step = afterDelivery(leading, before, sent, rejected, noon)
    expect(step).toMatchObject({ progress: { windowUntil: before.windowUntil } })
  })

  test('does not open in the other modes', () => {
    const step = afterDelivery(subscriptionOf({ coalesceMs: 30_000, target }), before, sent, delivered, noon)
    expect(step).toMatchObject({ progress: { windowUntil: before.windowUntil } })
  })
})

test('a subscription degrades exactly when three of its events failed in a row, or one is rejected', () => {
  const results = fc.array(fc.constantFrom(delivered, failed, unfit, rejected, stopped), { maxLength: 20 })
  fc.assert(
    fc.property(results, (all) => {
      let progress: Progress = { ...before, failedInARow: 0 }
      let inARow = 0
      for (const result of all) {
        if (result === delivered) inARow = 0
        if (result === failed) inARow++
        const step = after(result, progress)
        expect(step.next === 'degrade').toBe(result === rejected || (result === failed && inARow >= failuresMax))
        if (step.next === 'degrade') return
        if ('progress' in step) progress = step.progress
      }
    }),
  )
})
