import { expect, test } from 'vitest'
import { wakeLine } from '../../../src/cli/listen/wake-line.ts'
import type { Wake } from '../../../src/client/wakes/wake.ts'

const summary = [
  '[WAKE] 4 events for @donna: 1 new messages, 3 task transitions',
  '- 1 new messages (latest: "Review PR 7" from @lucy)',
  '- 3 task transitions (latest: none → submitted on task t1)',
  'Subscription: WAKE_SUB:1',
  'Window: 0s',
].join('\n')
const emittedAt = new Date().toISOString()
const digest: Wake = {
  eventType: 'wake/digest',
  eventId: '01HWAKE0000000000000000001',
  logId: 7,
  agentIdentity: '@donna',
  payload: { summary },
  emittedAt,
}

test('on a terminal a digest has the time of the day, its kinds once, and breaks between words', () => {
  const lines = wakeLine({ columns: 40 }, digest).split('\n')
  expect(lines.join(' ')).toMatch(
    /^\d\d:\d\d:\d\d {2}#7 {2}digest {2}@donna {1,2}"Review PR 7" from @lucy; 3 task transitions \(latest: none → submitted on task t1\)$/,
  )
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(40)
})

test('a pipe gets the instant, the type and the beginning of the summary in one line', () => {
  expect(wakeLine({}, digest)).toContain(
    `${emittedAt}  #7  wake/digest  @donna  [WAKE] 4 events for @donna: 1 new messages, 3 task`,
  )
})
