import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newerEvidence, visibleEvidence, type WakeEvidence } from '../../src/mailbox/delivery/wake-evidence.ts'
import { hearTest, testError } from '../../src/wake-stream/hear-test.ts'
import { WakeStream } from '../../src/wake-stream/wake-stream.ts'
import { isShownToSender } from '../../src/wakes/rules/sender-view.ts'
import { stepsAfter, stepsMax, type WakeStep } from '../../src/wakes/rules/wake-history.ts'
import { type ReceiptStep, receiptSteps } from '../../src/words/receipts.ts'
import { reasonIn, sourceKind } from '../../src/words/sender-view.ts'
import { FakeClock } from '../support/fake-clock.ts'

const said = (step: ReceiptStep, detail: string | null = null): WakeStep => ({
  step,
  source: null,
  reportedBy: '@donna',
  at: '2026-04-26T10:00:00.000Z',
  detail,
})

test('a history is bounded, keeps its order, and never loses the strongest step', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...receiptSteps), fc.nat(3)), { maxLength: 100 }), (reports) => {
      let steps: readonly WakeStep[] = [said('turn_started')]
      for (const [step, detail] of reports) steps = stepsAfter(steps, said(step, String(detail)), 'turn_started')
      expect(steps.length).toBeLessThanOrEqual(stepsMax)
      expect(steps.some(({ step }) => step === 'turn_started')).toBe(true)
      const last = reports.at(-1)
      if (last) expect(steps.at(-1)).toMatchObject({ step: last[0], detail: String(last[1]) })
    }),
  )
})

test('what is said again only counts', () => {
  let steps: readonly WakeStep[] = []
  for (let count = 0; count < 5; count++) steps = stepsAfter(steps, said('held', 'busy'), 'held')
  expect(steps).toEqual([{ ...said('held', 'busy'), repeats: 4 }])
})

test.each([
  ['codex: turn/started', 'codex'],
  ['hook', 'hook'],
  ['/home/donna/secret', 'reader'],
  ['secret-tool', 'reader'],
  ['codexsecret', 'reader'],
  [null, 'reader'],
])('a peer reads the source %s as %s', (source, kind) => {
  expect(sourceKind(source)).toBe(kind)
})

test.each([
  ['turn_active', 'turn_active'],
  ['user_typing: in /home/donna', 'user_typing'],
  ['the file /home/donna is missing', undefined],
  ['turn_active_secret', undefined],
  [null, undefined],
])('a peer reads the detail %s as %s', (detail, reason) => {
  expect(reasonIn(detail)).toBe(reason)
})

test('the senders are notified that a wake is held, that a turn began, and of ends that are no delivery', () => {
  const shown = receiptSteps.filter((step) => isShownToSender(step, 'failed') || isShownToSender(step, 'delivered'))
  expect(shown).toEqual([
    ...['held', 'turn_started', 'denied', 'refused', 'expired', 'misaddressed', 'dropped', 'unknown', 'failed'],
  ])
  expect(isShownToSender('written', 'pending')).toBe(false)
  expect(isShownToSender('written', 'written')).toBe(true)
  expect(isShownToSender('failed', 'pending')).toBe(false)
})

test('the newer wake counts; of the same instant the stronger; of the same wake the later word', () => {
  const wake = (eventId: string, step: ReceiptStep): WakeEvidence => ({
    eventId,
    step,
    source: null,
    at: '',
    detail: null,
  })
  const [older, newer] = ['01H0000000AAAAAAAAAAAAAAAA', '01H0000001AAAAAAAAAAAAAAAA']
  expect(newerEvidence(null, wake(older, 'held')).step).toBe('held')
  expect(newerEvidence(wake(older, 'turn_started'), wake(newer, 'held')).step).toBe('held')
  expect(newerEvidence(wake(newer, 'held'), wake(older, 'turn_started')).step).toBe('held')
  const sibling = '01H0000000BBBBBBBBBBBBBBBB'
  expect(newerEvidence(wake(older, 'turn_started'), wake(sibling, 'held')).step).toBe('turn_started')
  expect(newerEvidence(wake(older, 'expired'), wake(sibling, 'held')).step).toBe('held')
  expect(newerEvidence(wake(older, 'held'), wake(older, 'expired')).step).toBe('expired')
  expect(visibleEvidence({ ...wake(older, 'held'), detail: 'a path' }, false)).toEqual({
    step: 'held',
    source: 'reader',
    at: '',
  })
})

test('a test on a stream that speaks into a session waits a while after delivered, and says that it is held', async () => {
  const clock = new FakeClock()
  const reader = { write: () => undefined, release() {}, end() {} }
  const stream = new WakeStream('stream', 'donna', ['one'], reader, ['append-only'])
  const heard = hearTest(clock, stream, new AbortController().signal)
  let isOver = false
  void heard.isEnough.then(() => {
    isOver = true
  })
  heard.hear(said('held'), 'pending')
  expect(testError('timeout', heard.strongest)).toBe('held')
  heard.hear(said('delivered'), 'delivered')
  clock.advance(9_000)
  await Promise.resolve()
  expect(isOver).toBe(false)
  clock.advance(2_000)
  await heard.isEnough
  expect(testError('heard', heard.strongest)).toBe(null)
  expect(testError('timeout', said('written'))).toBe('timeout')
  expect(testError('timeout', undefined)).toBe('timeout')
  expect(testError('closed', said('held'))).toBe('closed')
  expect(testError('heard', said('expired'))).toBe('expired')
})
