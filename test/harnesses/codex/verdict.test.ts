import { expect, test } from 'vitest'
import { stateOf } from '../../../src/harnesses/codex/adapter/thread.ts'
import { findIn, type WakePlace } from '../../../src/harnesses/codex/adapter/wake/seen.ts'
import { refused, verdictOf, wakeTimes, whyNot } from '../../../src/harnesses/codex/adapter/wake/verdict.ts'

const none = { sinceMs: 0, idleMs: 0, nowhereMs: 0 }

// S1-14
test.each([
  [{ type: 'notLoaded' }, 'unknown'],
  [{ type: 'idle' }, 'idle'],
  [{ type: 'systemError' }, 'idle'],
  [{ type: 'active', activeFlags: [] }, 'active'],
  [{ type: 'active', activeFlags: ['waitingOnApproval'] }, 'waitingOnApproval'],
  [{ type: 'active', activeFlags: ['waitingOnUserInput'] }, 'waitingOnApproval'],
  [{ type: 'of a later version' }, 'unknown'],
])('the status %j is %s', (status, state) => {
  expect(stateOf(status)).toBe(state)
})

test.each<[WakePlace, Partial<typeof none>, unknown]>([
  [{ turnId: 't', state: 'active' }, {}, 'began'],
  [{ queuedId: 'q', state: 'idle' }, { idleMs: 1_999 }, 'wait'],
  [
    { queuedId: 'q', state: 'idle' },
    { idleMs: 2_000 },
    { held: expect.stringContaining('an interrupt stopped'), reason: 'cannot_start_turn' },
  ],
  [{ queuedId: 'q', state: 'active' }, {}, { held: expect.stringContaining('a turn runs'), reason: 'turn_active' }],
  [
    { queuedId: 'q', state: 'waitingOnApproval' },
    {},
    { held: expect.stringContaining('answer of its user'), reason: 'waiting_on_approval' },
  ],
  [{ queuedId: 'q', state: 'closed' }, {}, 'closed'],
  [{ queuedId: 'q', state: 'unknown' }, { sinceMs: 11_999 }, 'wait'],
  [
    { queuedId: 'q', state: 'unknown' },
    { sinceMs: 12_000 },
    { held: expect.stringContaining('busy or waits'), reason: 'presence_unknown' },
  ],
  [{ queuedId: 'q', state: 'unknown', maybeClosed: true }, { sinceMs: 12_000 }, 'closed'],
  [{ state: 'idle' }, { nowhereMs: 14_999 }, 'wait'],
  [{ state: 'idle' }, { nowhereMs: 15_000 }, 'gone'],
])('seen as %j for %j', (seen, elapsed, verdict) => {
  expect(verdictOf(seen, { ...none, ...elapsed }, wakeTimes)).toEqual(verdict)
})

test('only what asks its user, and what is closed without leave to open it, gets nothing', () => {
  const states = ['idle', 'active', 'unknown', 'waitingOnApproval', 'closed'] as const
  expect(states.filter((state) => whyNot({ state }, false))).toEqual(['waitingOnApproval', 'closed'])
  expect(states.filter((state) => whyNot({ state }, true))).toEqual(['waitingOnApproval'])
})

test('what the server does not take was not handed over, or will never be', () => {
  expect(refused('no-history', '')).toMatchObject({ step: 'held' })
  expect(refused('overloaded', '')).toMatchObject({ step: 'held' })
  expect(refused('no-such-method', '')).toMatchObject({ step: 'failed' })
  expect(refused('other', 'no')).toMatchObject({ step: 'failed', detail: expect.stringContaining('no') })
})

test('a wake is found by its label, in a message of the user alone', () => {
  const turn = (type: string) => ({ id: type, status: 'completed', items: [{ type, clientId: 'rouse-1' }] })
  expect(findIn('rouse-1', [], [turn('agentMessage'), turn('userMessage')])).toEqual({ turnId: 'userMessage' })
  expect(findIn('rouse-1', [{ id: 'q', clientUserMessageId: 'rouse-1' }], [])).toEqual({ queuedId: 'q' })
})
