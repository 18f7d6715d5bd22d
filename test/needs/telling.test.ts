import { describe, expect, test } from 'vitest'
import type { NeedKind } from '../../src/needs/need.ts'
import { type NeedNotice, nextStep, quietMs } from '../../src/needs/telling.ts'

const now = Date.parse('2026-04-26T10:00:00.000Z')
const minute = 60_000
const told = (fields: Partial<NeedNotice> = {}): NeedNotice => ({
  id: 'x',
  kind: 'failing',
  agent: '@donna',
  toldAt: now - minute,
  isOpen: true,
  snoozedUntil: 0,
  raisedLogId: 1,
  ...fields,
})
const snoozed = { snoozedUntil: now + minute }
const closed = { isOpen: false }
const long = { toldAt: now - quietMs }

const cases: readonly [string, NeedNotice | undefined, NeedKind | undefined, string][] = [
  ['something new is told', undefined, 'input', 'raise'],
  ['nothing, and nothing before', undefined, undefined, 'wait'],
  ['what was told and still waits is not told again', told(), 'failing', 'wait'],
  ['however long it waits', told({ toldAt: 0 }), 'failing', 'wait'],
  [
    'a receiver that is no longer tried and fails on is the same trouble',
    told({ kind: 'retrying' }),
    'failing',
    'wait',
  ],
  ['what becomes worse is told', told(), 'degraded', 'raise'],
  ['what becomes better is not over', told({ kind: 'degraded' }), 'failing', 'wait'],
  ['what is over is told', told(), undefined, 'clear'],
  ['a receiver that fails again soon is not told', told(closed), 'failing', 'wait'],
  ['but told when that lasts', told({ ...closed, ...long }), 'failing', 'raise'],
  ['and told when it becomes worse', told(closed), 'degraded', 'raise'],
  [
    'a degraded one that comes and goes is not told each time',
    told({ ...closed, kind: 'degraded' }),
    'degraded',
    'wait',
  ],
  ['a question is told however soon it comes', told({ ...closed, kind: 'approval' }), 'approval', 'raise'],
  ['the quiet after a trouble is remembered', told(closed), undefined, 'wait'],
  ['and forgotten later', told({ ...closed, ...long }), undefined, 'forget'],
  ['a question that was answered is forgotten', told({ ...closed, kind: 'input' }), undefined, 'forget'],
  ['what was put off is not told', told({ ...closed, ...long, ...snoozed }), 'failing', 'wait'],
  ['unless it becomes worse', told(snoozed), 'degraded', 'raise'],
  ['when it is put off no more, it is told again', told({ snoozedUntil: now - 1 }), 'failing', 'raise'],
  ['that it is over is told also while it is put off', told(snoozed), undefined, 'clear'],
  [
    'a trouble that is put off stays so when it comes and goes',
    told({ ...closed, ...long, ...snoozed }),
    undefined,
    'wait',
  ],
  [
    'a question that was put off and answered is forgotten',
    told({ ...closed, ...snoozed, kind: 'input' }),
    undefined,
    'forget',
  ],
]

describe('what operators are told', () => {
  test.each(cases)('%s', (_, before, kind, step) => {
    expect(nextStep(before, kind, now)).toBe(step)
  })
})
