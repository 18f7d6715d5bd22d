import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterReceipt, type DeliveryAfter } from '../../src/wakes/rules/after-receipt.ts'
import { announcers, isAnnounced } from '../../src/wakes/rules/announcers.ts'
import { attemptsKept, attemptsMax, retryDelayMs, trimmed } from '../../src/wakes/rules/retry-schedule.ts'
import { higherStep, meaningOf, type ReceiptStep, receiptSteps } from '../../src/words/receipts.ts'
import { subscriptionOf } from './builders.ts'

const now = 1_000_000
const open = { outcome: 'pending', step: null, attempts: [], nextAttemptAt: null, updatedAt: now } as const
const context = { now, random: () => 0 }

describe('a receipt', () => {
  test.each([
    ['accepted', 'pending'],
    ['routed', 'pending'],
    ['written', 'pending'],
    ['held', 'pending'],
    ['delivered', 'delivered'],
    ['turn_started', 'delivered'],
    ['seen', 'delivered'],
    ['acked', 'delivered'],
    ['resolved', 'delivered'],
    ['denied', 'failed'],
    ['refused', 'failed'],
    ['expired', 'failed'],
    ['misaddressed', 'failed'],
    ['dropped', 'failed'],
    ['unknown', 'failed'],
  ] as const)('%s leaves an open wake %s', (step, outcome) => {
    expect(afterReceipt(open, { step }, context)).toMatchObject({ outcome, step, nextAttemptAt: null })
  })

  // S1-34
  test('failed has it sent again after 1, 2 and 4 s, and then no more', () => {
    let delivery: DeliveryAfter & { updatedAt: number } = open
    const waits: (number | null)[] = []
    for (let attempt = 0, at = now; attempt < attemptsMax; attempt++) {
      delivery = { ...afterReceipt(delivery, { step: 'failed' }, { ...context, now: at }), updatedAt: at }
      waits.push(delivery.nextAttemptAt === null ? null : delivery.nextAttemptAt - at)
      at = delivery.nextAttemptAt ?? at
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, null])
    expect(delivery).toMatchObject({ outcome: 'failed', step: 'failed' })
  })

  test('written is final where its reader says so, and decides nothing where it does not', () => {
    const written = { step: 'written', isFinal: true } as const
    const final = { ...afterReceipt(open, written, context), updatedAt: now }
    expect(final).toMatchObject({ outcome: 'written', step: 'written', attempts: [{ error: null }] })
    expect(afterReceipt(open, { step: 'written', isFinal: false }, context)).toMatchObject({ outcome: 'pending' })
    // A proof that comes late all the same is kept. What is weaker, or another end, is not.
    expect(afterReceipt(final, { step: 'turn_started' }, context)).toMatchObject({
      outcome: 'written',
      step: 'turn_started',
    })
    for (const step of ['held', 'failed', 'expired'] as const)
      expect(afterReceipt(final, { step }, context)).toMatchObject({ outcome: 'written', step: 'written' })
    expect(afterReceipt(final, written, context).attempts).toBe(final.attempts)
  })

  test('a second failed before the next try changes nothing', () => {
    const failed = { ...afterReceipt(open, { step: 'failed' }, context), updatedAt: now }
    expect(afterReceipt(failed, { step: 'failed' }, context)).toMatchObject({ attempts: failed.attempts })
  })

  test('for what is decided keeps the outcome, and only ever a higher step', () => {
    const step = fc.constantFrom(...receiptSteps)
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let delivery: DeliveryAfter & { updatedAt: number } = { ...open, outcome: 'delivered', step: 'delivered' }
        for (const one of steps) {
          const after = afterReceipt(delivery, { step: one }, context)
          expect(after.outcome).toBe('delivered')
          expect(meaningOf(after.step as ReceiptStep)).toBe('delivered')
          expect(higherStep(delivery.step, after.step as ReceiptStep)).toBe(after.step)
          delivery = { ...after, updatedAt: now }
        }
      }),
    )
  })
})

// D31
describe('the schedule of retries', () => {
  test('doubles up to five minutes, with jitter that only adds, for as long as the receiver may be away', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 300_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, awaySeconds, random) => {
          const retry = { attempt, firstAt: 0, now: awaySeconds * 1_000, retryForSeconds: 86_400, random: () => random }
          const delay = retryDelayMs(retry)
          const scheduled = Math.min(1_000 * 2 ** (attempt - 1), 300_000)
          if (attempt >= attemptsMax && awaySeconds >= 86_400) {
            expect(delay).toBe(undefined)
          } else {
            expect(delay).toBeGreaterThanOrEqual(scheduled)
            expect(delay).toBeLessThanOrEqual(Math.min(Math.ceil(scheduled * 1.1), 300_000))
          }
        },
      ),
    )
  })

  test('a record keeps the first attempt and the latest', () => {
    const attempts = Array.from({ length: 100 }, (_, index) => ({
      at: String(index),
      status: null,
      durationMs: 0,
      error: null,
    }))
    const kept = trimmed(attempts)
    expect(kept.length).toBe(attemptsKept)
    expect([kept[0]!.at, kept.at(-1)!.at]).toEqual(['0', '99'])
    expect(trimmed(kept)).toBe(kept)
  })
})

// D29
describe('what waits', () => {
  const mail = subscriptionOf({ id: 'mail', trigger: 'SENT_TO_ME' })
  const tasks = subscriptionOf({ id: 'tasks', trigger: 'TASK_STATE_CHANGED' })

  test('is announced once for each target, by the subscription about mail if there is one', () => {
    const elsewhere = subscriptionOf({
      id: 'elsewhere',
      trigger: 'TASK_STATE_CHANGED',
      target: { url: 'http://127.0.0.1:8/' },
    })
    expect(announcers([tasks, mail, elsewhere]).map(({ id }) => id)).toEqual(['mail', 'elsewhere'])
  })

  test.each([
    ['is paused', { status: 'paused' }],
    ['is degraded', { status: 'degraded' }],
    ['is about grants', { trigger: 'PERMISSION_GRANTED' }],
    ['has no channel', { harnessTarget: 'disabled' }],
    ['another agent has pointed somewhere', { managedBy: 'agent_mike' }],
  ] as const)('is not announced by one that %s', (_, fields) => {
    expect(announcers([subscriptionOf(fields)])).toEqual([])
  })

  test('is announced by a second subscription of a target only a while later', () => {
    const announcing = { ...mail, announcesWaiting: true, createdAt: now }
    expect(isAnnounced({ ...tasks, createdAt: now + 59_000 }, [announcing])).toBe(true)
    expect(isAnnounced({ ...tasks, createdAt: now + 61_000 }, [announcing])).toBe(false)
    expect(isAnnounced({ ...tasks, createdAt: now }, [{ ...announcing, announcesWaiting: false }])).toBe(false)
  })
})
