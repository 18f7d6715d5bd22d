import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Filters } from '../../src/registry/subscriptions/subscription.ts'
import { isWokenBySibling, matches } from '../../src/wakes/rules/match.ts'
import { logEvent, messageSent, noon, permissionGranted, pushOf, stateChanged, subscriptionOf } from './builders.ts'

describe('the trigger', () => {
  // S1-43
  test.each([
    ['SENT_TO_ME', messageSent(1), true],
    ['SENT_TO_ME', stateChanged(1), false],
    ['TASK_STATE_CHANGED', stateChanged(1), true],
    ['TASK_STATE_CHANGED', permissionGranted(1), false],
    ['PERMISSION_GRANTED', permissionGranted(1), true],
    ['PERMISSION_GRANTED', messageSent(1), false],
  ] as const)('%s and %o: %s', (trigger, event, expected) => {
    expect(matches(subscriptionOf({ trigger }), event)).toBe(expected)
  })

  test.each(['subscription.degraded', 'wake.failed', 'agent.created', 'task.artifact_added'] as const)(
    'a %s wakes nobody',
    (type) => {
      for (const trigger of ['SENT_TO_ME', 'TASK_STATE_CHANGED', 'PERMISSION_GRANTED'] as const) {
        expect(matches(subscriptionOf({ trigger }), logEvent(type, 1))).toBe(false)
      }
    },
  )

  test('a push gets states and artifacts, for every policy of the message', () => {
    const push = pushOf()
    expect(matches(push, stateChanged(1, { wakePolicy: 'silent' }))).toBe(true)
    expect(matches(push, logEvent('task.artifact_added', 1))).toBe(true)
    expect(matches(push, messageSent(1))).toBe(false)
  })
})

describe('the policy', () => {
  // S1-15
  test.each([
    ['silent', false],
    ['next_turn', false],
    ['immediate', true],
  ])('%s wakes: %s', (wakePolicy, expected) => {
    expect(matches(subscriptionOf(), messageSent(1, { wakePolicy }))).toBe(expected)
    const task = subscriptionOf({ trigger: 'TASK_STATE_CHANGED' })
    expect(matches(task, stateChanged(1, { wakePolicy }))).toBe(expected)
  })

  // S1-16
  test('has nothing to do with priority', () => {
    expect(matches(subscriptionOf(), messageSent(1, { wakePolicy: 'next_turn', priority: 'high' }))).toBe(false)
    expect(matches(subscriptionOf(), messageSent(1, { wakePolicy: 'immediate', priority: 'low' }))).toBe(true)
  })

  test('what has no policy wakes', () => {
    const event = permissionGranted(1)
    expect(matches(subscriptionOf({ trigger: 'PERMISSION_GRANTED' }), event)).toBe(true)
  })
})

describe('the filters', () => {
  const given = messageSent(1, {
    priority: 'high',
    taggedConcepts: ['review', 'sunset-protocol-handover'],
    isReplyTo: 'MESSAGE:a',
    threadId: 'MESSAGE:root',
  })
  // S1-43, S1-47
  const cases: readonly (readonly [Filters, boolean])[] = [
    [{}, true],
    [{ priority: 'high' }, true],
    [{ priority: 'low' }, false],
    [{ taggedConcepts: ['sunset-protocol-handover'] }, true],
    [{ taggedConcepts: ['other', 'review'] }, true],
    [{ taggedConcepts: ['other'] }, false],
    [{ taggedConcepts: [] }, true],
    [{ senderFilter: ['@lola'] }, true],
    [{ senderFilter: ['@max', '@lola'] }, true],
    [{ senderFilter: ['@max'] }, false],
    [{ inReplyToFilter: ['MESSAGE:a'] }, true],
    [{ inReplyToFilter: ['MESSAGE:root'] }, true],
    [{ inReplyToFilter: ['MESSAGE:b'] }, false],
  ]
  test.each(cases)('%j: %s', (filters, expected) => {
    expect(matches(subscriptionOf({ filters }), given)).toBe(expected)
  })

  test('all given filters must match', () => {
    fc.assert(
      fc.property(fc.subarray([...cases]), (chosen) => {
        const filters = Object.assign({}, ...chosen.map(([filter]) => filter)) as Filters
        const expected = Object.entries(filters).every(([name, value]) =>
          matches(subscriptionOf({ filters: { [name]: value } }), given),
        )
        expect(matches(subscriptionOf({ filters }), given)).toBe(expected)
      }),
    )
  })

  test('the sender of an event without a message is its actor', () => {
    const from = (senderFilter: string[]) =>
      subscriptionOf({ trigger: 'TASK_STATE_CHANGED', filters: { senderFilter } })
    expect(matches(from(['@lola']), stateChanged(1))).toBe(true)
    expect(matches(from(['@donna']), stateChanged(1))).toBe(false)
  })
})

describe('one wake for each recipient and message', () => {
  // D9
  const task = subscriptionOf({ id: 'WAKE_SUB:task', trigger: 'TASK_STATE_CHANGED' })
  const mail = subscriptionOf({ id: 'WAKE_SUB:mail' })
  const submitted = stateChanged(2, { message: { from: '@lola', priority: 'high', taggedConcepts: [] } })

  test.each([
    ['the same target', {}, true],
    ['another url', { target: { url: 'http://127.0.0.1:8/' } }, false],
    ['another kind of target', { harnessTarget: 'mcp-notifications' }, false],
    ['a degraded one', { status: 'degraded' }, false],
    ['a paused one', { status: 'paused' }, false],
    ['one whose filters let the message pass', { filters: { priority: 'high' } }, true],
    ['one whose filters do not', { filters: { priority: 'low' } }, false],
    ['another trigger', { trigger: 'TASK_STATE_CHANGED' }, false],
    ['one made after the event', { createdAt: noon + 1 }, false],
  ] as const)('%s', (_, fields, expected) => {
    expect(isWokenBySibling(task, submitted, [{ ...mail, ...fields }])).toBe(expected)
  })

  test('a change without a message always wakes', () => {
    expect(isWokenBySibling(task, stateChanged(2), [mail])).toBe(false)
  })

  test('the message itself always wakes', () => {
    expect(isWokenBySibling(mail, submitted, [mail, task])).toBe(false)
  })
})
