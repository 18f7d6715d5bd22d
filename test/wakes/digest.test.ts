import { describe, expect, test } from 'vitest'
import type { LogEvent } from '../../src/log/event.ts'
import { DigestBuilder } from '../../src/wakes/content/digest.ts'
import { messageSent, noon, permissionGranted, stateChanged } from './builders.ts'

const about = { agentIdentity: '@donna', subscriptionId: 'WAKE_SUB:1', emittedAt: noon + 30_000 }

function digestOf(...events: LogEvent[]) {
  const digest = new DigestBuilder()
  for (const event of events) digest.add(event)
  return digest.payload(about)
}

describe('the text', () => {
  // S1-40
  test('counts each kind, has the latest of each, the agent, and the start of the window', () => {
    const { summary } = digestOf(
      messageSent(1),
      stateChanged(2),
      messageSent(3, { subject: 'please review', from: '@max' }),
      stateChanged(4, { previousState: 'working', newState: 'input-required', taskId: 'task-9' }),
      permissionGranted(5, { scope: 'CAN_READ_INBOX_OF', grantedBy: '@max' }),
      permissionGranted(6),
    )
    expect(summary).toBe(
      [
        '[WAKE] 6 events for @donna: 2 new messages, 2 task transitions, 2 permissions granted',
        '- 2 new messages (latest: "please review" from @max)',
        '- 2 task transitions (latest: Working → InputRequired on task task-9)',
        '- 2 permissions granted (latest: CAN_REPLY_TO by @lola)',
        'Subscription: WAKE_SUB:1',
        'Window: 30s',
      ].join('\n'),
    )
  })

  // S1-40
  test('one has the form of many, as the rule has one form', () => {
    expect(digestOf(messageSent(1)).summary).toContain('[WAKE] 1 events for @donna: 1 new messages\n- 1 new messages (')
    expect(digestOf(stateChanged(1)).summary).toContain(
      '1 events for @donna: 1 task transitions\n- 1 task transitions (',
    )
    expect(digestOf(permissionGranted(1)).summary).toContain('- 1 permissions granted (latest')
  })

  test('a new task changes from none', () => {
    const { summary } = digestOf(stateChanged(1, { previousState: null, newState: 'submitted' }))
    expect(summary).toContain('(latest: none → Submitted on task task-1)')
  })

  test('the window opens at the first event', () => {
    const payload = digestOf(messageSent(1, {}, noon + 500), messageSent(2, {}, noon + 20_000))
    expect(payload.summary).toContain('Window: 29.5s')
    expect(payload.windowStart).toBe('2026-04-26T10:00:00.500Z')
  })
})

describe('the fields', () => {
  test('are the numbers of the text, the range and the newest of each kind', () => {
    const payload = digestOf(messageSent(7), stateChanged(9), messageSent(12))
    expect(payload).toMatchObject({
      eventCount: 3,
      newMessages: 2,
      taskTransitions: 1,
      permissionsGranted: 0,
      latestMessage: { messageId: 'MESSAGE:12', subject: 'subject 12' },
      latestTaskTransition: { taskId: 'task-9', previousState: 'Submitted', newState: 'Working' },
      latestPermission: null,
      fromLogId: 7,
      toLogId: 12,
      windowStart: '2026-04-26T10:00:00.000Z',
      refs: [
        { logId: 7, eventType: 'wake/sent_to_me', messageId: 'MESSAGE:7' },
        { logId: 9, eventType: 'wake/task_state_changed', taskId: 'task-9' },
        { logId: 12, eventType: 'wake/sent_to_me', messageId: 'MESSAGE:12' },
      ],
    })
    expect(payload).not.toHaveProperty('refsTruncated')
  })

  test.each([
    [100, 100, undefined],
    [101, 100, true],
    [5000, 100, true],
  ])('of %i events the first %i are pointed at; truncated: %s', (count, refs, truncated) => {
    const payload = digestOf(...Array.from({ length: count }, (_, i) => messageSent(i + 1)))
    expect(payload).toMatchObject({ eventCount: count, newMessages: count, toLogId: count })
    expect(payload.refs).toHaveLength(refs)
    expect((payload.refs as unknown[])[0]).toMatchObject({ logId: 1 })
    expect(payload.refsTruncated).toBe(truncated)
  })

  test('there is no empty digest', () => {
    expect(() => digestOf()).toThrow('at least one event')
  })
})
