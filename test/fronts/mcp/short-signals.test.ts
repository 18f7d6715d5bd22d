import { expect, test } from 'vitest'
import { shortSignals } from '../../../src/fronts/mcp/tools/mail-view.ts'

const signal = (at: number, more: object = {}) => ({
  signal_id: `MESSAGE:${String(at).padStart(36, '0')}`,
  from: '@mike',
  from_identity: '@mike',
  from_session: `session_${'0'.repeat(36)}`,
  to_identity: '@donna',
  payload: {},
  in_reply_to: null,
  type: 'msg',
  subject: 'hello',
  body: 'hi',
  taggedConcepts: [],
  task_id: null,
  created_at: '2026-04-26T10:00:00.000Z',
  ...more,
})

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

test('a little mail is shown with all of its fields', () => {
  const { in_reply_to: _reply, taggedConcepts: _concepts, task_id: _task, ...shown } = signal(1)
  expect(shortSignals([signal(1)])).toEqual([shown])
})

test.each([20, 50, 100])('S2-14: no sender can put so much into %i messages that others are not shown', (count) => {
  const large = {
    subject: '\u{1f600}'.repeat(100),
    body: 'x'.repeat(100_000),
    payload: { a: 'x'.repeat(60_000) },
    taggedConcepts: Array(100).fill('x'.repeat(200)),
  }
  const shown = shortSignals(Array.from({ length: count }, (_, at) => signal(at, at === count - 1 ? {} : large)))
  expect(shown.map(({ signal_id: id }) => id)).toEqual(Array.from({ length: count }, (_, at) => signal(at).signal_id))
  expect(shown.at(-1)).toMatchObject({ from: '@mike', subject: 'hello' })
  // The size that run-tool.ts lets through.
  expect(bytes(shown)).toBeLessThan(60_000)
})
