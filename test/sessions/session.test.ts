import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Process, type Session, succession } from '../../src/registry/sessions/session.ts'
import { presenceOf, presenceStaleMs } from '../../src/words/presence.ts'

const noon = Date.parse('2026-04-26T10:00:00.000Z')

function sessionOf(fields: Partial<Session> = {}): Session {
  return {
    id: 'session_1',
    projectId: 'default',
    agentId: 'agent_donna',
    surface: 'codex',
    capabilities: ['turn/start'],
    pid: 4711,
    processStartedAt: noon,
    state: 'active',
    source: 'codex-app-server',
    activeTurnId: 'turn_1',
    presenceAt: noon,
    lastSeenAt: noon,
    actedAt: 0,
    contextTokens: null,
    createdAt: noon,
    endedAt: null,
    endReason: null,
    successorId: null,
    cwd: null,
    harnessSessionId: null,
    keyId: null,
    ...fields,
  }
}

describe('who speaks for an agent', () => {
  // D12
  const owner = { pid: 1, processStartedAt: noon }
  test.each([
    ['nobody did', undefined, { pid: 1, processStartedAt: noon }, 'begin'],
    ['the same process', owner, { pid: 1, processStartedAt: noon }, 'continue'],
    ['a newer process', owner, { pid: 2, processStartedAt: noon + 1 }, 'preempt'],
    ['an older process', owner, { pid: 2, processStartedAt: noon - 1 }, 'refuse'],
    ['one of the same instant', owner, { pid: 2, processStartedAt: noon }, 'preempt'],
    ['a reused process id', owner, { pid: 1, processStartedAt: noon + 1 }, 'preempt'],
    ['one that does not say when it started', owner, { pid: 1, processStartedAt: null }, 'preempt'],
    ['an owner that does not say', { pid: null, processStartedAt: null }, owner, 'preempt'],
    ['two that say nothing', { pid: null, processStartedAt: null }, { pid: null, processStartedAt: null }, 'preempt'],
  ] as const)('%s', (_, before, newcomer, expected) => {
    expect(succession(newcomer, before)).toBe(expected)
  })

  test('of processes that give their start, the newest one wins, in any order and with repeats', () => {
    const process = fc.record({ pid: fc.nat(5), processStartedAt: fc.nat(20) })
    fc.assert(
      fc.property(fc.array(process, { minLength: 1 }), (asking) => {
        let owner: Process | undefined
        for (const one of asking) if (succession(one, owner) !== 'refuse') owner = one
        expect(owner?.processStartedAt).toBe(Math.max(...asking.map(({ processStartedAt }) => processStartedAt)))
      }),
    )
  })
})

describe('presence', () => {
  // S1-8, S1-9
  test('is the last report, while that is fresh', () => {
    expect(presenceOf(sessionOf(), noon + presenceStaleMs)).toEqual({
      state: 'active',
      source: 'codex-app-server',
      activeTurnId: 'turn_1',
      capabilities: ['turn/start'],
      asOf: noon,
    })
  })

  test.each([
    ['nobody is there', undefined, noon],
    ['nothing was said yet', sessionOf({ presenceAt: null, state: 'unknown' }), noon],
    ['it was said too long ago', sessionOf(), noon + presenceStaleMs + 1],
    ['the clock was set back since', sessionOf(), noon - presenceStaleMs - 1],
    ['the session has ended', sessionOf({ endedAt: noon }), noon],
  ])('is unknown when %s', (_, session, now) => {
    expect(presenceOf(session, now)).toMatchObject({ state: 'unknown', activeTurnId: null })
  })
})
