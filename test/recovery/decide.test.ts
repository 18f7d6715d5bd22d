import { describe, expect, test } from 'vitest'
import { afterAct, decide } from '../../src/recovery/decide.ts'
import { findingsOf } from '../../src/recovery/evidence.ts'
import type { Facts } from '../../src/turns/facts.ts'
import { acting, bridged, factsOf, gone, goneFacts, minute, noon, present, recoveryOf, sessionOf } from './facts.ts'

const gate = (fields: Partial<Facts['gate']>): Facts['gate'] => ({ ...factsOf().gate, ...fields })
const hour = 60 * minute
const actsOf = (mode: 'nudge' | 'restart', count: number) =>
  Array.from({ length: count }, (_, n) => ({ mode, at: noon - n * minute }))

type Case = readonly [string, Facts, string]

// S3-4, S3-5
const live: readonly Case[] = [
  ['silent with unread mail and a proven route: one nudge', factsOf(), 'nudge silent_with_reason'],
  ['nothing waits: idle is no evidence of need', factsOf({ reason: null }), 'nothing no_reason'],
  [
    'mail came a minute ago',
    factsOf({ reason: { ...factsOf().reason!, oldestAt: noon - minute } }),
    'nothing not_stale',
  ],
  ['it acted five minutes ago', factsOf({ session: sessionOf({ actedAt: noon - 5 * minute }) }), 'nothing alive'],
  ['a turn is open, for an hour already', factsOf({ session: present('active') }), 'wait turn_open'],
  ['it waits for an approval', factsOf({ session: present('waitingOnApproval') }), 'wait waiting_on_person'],
  ['a person types', factsOf({ session: present('userTyping') }), 'wait draft_in_composer'],
  [
    'an approval that a hook reported an hour ago, and nothing since',
    factsOf({ session: { ...present('waitingOnApproval'), presenceAt: noon - hour } }),
    'wait waiting_on_person',
  ],
  ['it is seen idle', factsOf({ session: present('idle') }), 'nudge silent_with_reason'],
  [
    'its session started three minutes ago',
    factsOf({ session: sessionOf({ createdAt: noon - 3 * minute, actedAt: 0 }) }),
    'wait starting',
  ],
  ['stale for the first look', factsOf({ staleRounds: 1 }), 'wait first_stale_look'],
  ['nudged for this already', factsOf({ recovery: recoveryOf({ actedFor: 'message_1' }) }), 'nothing acted_already'],
  [
    'nudged for an older reason',
    factsOf({ recovery: recoveryOf({ actedFor: 'message_0' }) }),
    'nudge silent_with_reason',
  ],
  ['no proven route: a pulse instead', factsOf({ route: null }), 'pulse no_proven_route'],
  [
    'a route that has proved nothing',
    factsOf({ route: { ...factsOf().route!, isProven: false } }),
    'pulse no_proven_route',
  ],
  [
    'pulsed for this already',
    factsOf({ route: null, recovery: recoveryOf({ pulsedFor: 'message_1' }) }),
    'nothing acted_already',
  ],
  ['nudges are off', factsOf({ gate: gate({ nudges: 'disabled' }) }), 'wait gate_disabled'],
  ['the gate has tripped', factsOf({ gate: gate({ nudges: 'tripped' }) }), 'wait gate_tripped'],
  ['three acts without a sign of life', factsOf({ recovery: recoveryOf({ abandoned: 3 }) }), 'trip too_many_abandoned'],
  ['six nudges this hour', factsOf({ recovery: recoveryOf({ acts: actsOf('nudge', 6) }) }), 'wait hour_is_full'],
  [
    'a conversation above the bound',
    factsOf({
      session: sessionOf({ contextTokens: 600_000 }),
      gate: gate({ settings: { ...gate({}).settings, maxContextTokens: 500_000 } }),
    }),
    'wait context_too_large',
  ],
  [
    'a conversation of unknown size: it fails open',
    factsOf({ gate: gate({ settings: { ...gate({}).settings, maxContextTokens: 500_000 } }) }),
    'nudge silent_with_reason',
  ],
  ['an act in flight', factsOf({ recovery: recoveryOf(acting('nudge', noon - minute)) }), 'wait in_flight'],
]

// S3-6
const away: readonly Case[] = [
  ['its session ended, and its recipe is proven: one restart', goneFacts(), 'restart session_gone'],
  ['it never had a session', goneFacts({ former: null }), 'nothing never_had_a_session'],
  ['a person closed it', goneFacts({ former: gone({ endReason: 'closed' }) }), 'nothing closed_by_person'],
  ['it ended a minute ago', goneFacts({ former: gone({ endedAt: noon - minute }) }), 'nothing not_stale'],
  ['gone for the first look', goneFacts({ staleRounds: 1 }), 'wait first_stale_look'],
  ['nothing waits', goneFacts({ reason: null }), 'nothing no_reason'],
  ['no bridge', goneFacts({ recovery: recoveryOf() }), 'pulse no_proven_route'],
  ['no recipe', goneFacts({ recovery: bridged({}, { restart: 'none' }) }), 'nothing no_recipe'],
  [
    'a recipe that nobody has tried',
    goneFacts({ recovery: bridged({}, { restart: 'unproven' }) }),
    'wait recipe_unproven',
  ],
  ['its bridge is away', goneFacts({ recovery: bridged({ bridgeAt: noon - 10 * minute }) }), 'wait bridge_away'],
  [
    'its process runs',
    goneFacts({ recovery: bridged({}, { process: { pid: 1, startedAt: '' } }) }),
    'wait process_alive',
  ],
  ['its conversation is open', goneFacts({ recovery: bridged({}, { seen: true }) }), 'wait process_alive'],
  ['restarts are off, as in a new project', goneFacts({ gate: gate({ restarts: 'disabled' }) }), 'wait gate_disabled'],
  ['the gate has tripped', goneFacts({ gate: gate({ restarts: 'tripped' }) }), 'wait gate_tripped'],
  ['three restarts this hour', goneFacts({ recovery: bridged({ acts: actsOf('restart', 3) }) }), 'trip budget_spent'],
  [
    'six nudges do not count as restarts',
    goneFacts({ recovery: bridged({ acts: actsOf('nudge', 6) }) }),
    'restart session_gone',
  ],
  [
    'restarts of an hour ago do not count',
    goneFacts({ recovery: bridged({ acts: [{ mode: 'restart', at: noon - hour }] }) }),
    'restart session_gone',
  ],
  ['three acts without a sign of life', goneFacts({ recovery: bridged({ abandoned: 3 }) }), 'trip too_many_abandoned'],
  [
    'restarted for this already',
    goneFacts({ recovery: bridged({ actedFor: 'message_1 after session_0' }) }),
    'nothing acted_already',
  ],
  [
    'another session of it is gone since',
    goneFacts({ recovery: bridged({ actedFor: 'message_1 after session_x' }) }),
    'restart session_gone',
  ],
]

const parked = { since: noon - hour, until: noon + hour, isOpen: false, reason: 'usage-limit', detail: null } as const

// S3-5, D50
const always: readonly Case[] = [
  ['at its usage limit', factsOf({ recovery: recoveryOf({ parked }) }), 'park usage_limit'],
  ['at its usage limit, and gone', goneFacts({ recovery: bridged({ parked }) }), 'park usage_limit'],
  [
    'its limit is over',
    factsOf({ recovery: recoveryOf({ parked: { ...parked, until: noon } }) }),
    'nudge silent_with_reason',
  ],
  ['the gateway has just started', factsOf({ trouble: 'gateway_just_started' }), 'wait gateway_just_started'],
  ['the clock is wrong', goneFacts({ trouble: 'clock_is_wrong' }), 'wait clock_is_wrong'],
  ['the machine slept', factsOf({ trouble: 'machine_slept' }), 'wait machine_slept'],
  ['the gateway has too much work', factsOf({ trouble: 'gateway_overloaded' }), 'wait gateway_overloaded'],
]

describe('of an agent', () => {
  test.each([...live, ...away, ...always])('%s', (_, facts, expected) => {
    const { action, reason } = decide(facts)
    expect(`${action} ${reason}`).toBe(expected)
  })
})

describe('an act in flight', () => {
  // S3-9
  const nudged = (session: Facts['session'], since = noon - 5 * minute) =>
    factsOf({ session, recovery: recoveryOf(acting('nudge', since)) })
  const restarted = (session: Facts['session'], since = noon - 5 * minute) =>
    goneFacts({ session, recovery: bridged(acting('restart', since, 'session_0')) })
  const anew = { id: 'session_2', createdAt: noon - 4 * minute, processStartedAt: noon - 4 * minute }
  test.each([
    ['without a sign of life is held', nudged(sessionOf()), 'held'],
    ['ends with the first act', nudged(sessionOf({ actedAt: noon - minute })), 'cleared'],
    ['does not end with an act from before', nudged(sessionOf({ actedAt: noon - 6 * minute })), 'held'],
    ['is abandoned after fifteen minutes', nudged(sessionOf(), noon - 16 * minute), 'abandoned'],
    ['is held while nobody has come', restarted(null), 'held'],
    ['is not over with a new session alone', restarted(sessionOf({ ...anew, actedAt: 0 })), 'held'],
    ['ends with the first act of a new process', restarted(sessionOf({ ...anew, actedAt: noon - minute })), 'cleared'],
    [
      'does not end with a session of the old process',
      restarted(sessionOf({ ...anew, processStartedAt: noon - hour, actedAt: noon - minute })),
      'held',
    ],
    [
      'does not end with the session that was gone',
      restarted(sessionOf({ id: 'session_0', createdAt: noon - 4 * minute, actedAt: noon })),
      'held',
    ],
    ['that is a restart is abandoned after fifteen minutes', restarted(null, noon - 16 * minute), 'abandoned'],
  ] as const)('%s', (_, facts, expected) => {
    expect(afterAct(facts)).toBe(expected)
  })
})

describe('the findings', () => {
  // S3-11
  test.each([
    ['of a silent session', factsOf(), 'idle_out_candidate', 'candidate'],
    ['of a session that is seen idle', factsOf({ session: present('idle') }), 'idle_out_candidate', 'verified'],
    ['of a session that said goodbye', goneFacts(), 'sunset', 'verified'],
    ['of a session that fell silent', goneFacts({ former: gone({ endReason: 'timeout' }) }), 'sunset', 'candidate'],
    ['of an agent that nobody has seen', goneFacts({ former: null }), 'sunset', 'unknown'],
  ] as const)('%s', (_, facts, kind, grade) => {
    const [found] = findingsOf(facts)
    expect(found).toMatchObject({ kind, grade })
  })

  test('name what was seen, when, and by whom', () => {
    const [found] = findingsOf(goneFacts())
    expect(found!.evidence).toEqual([
      { what: 'session session_0 ended: ended', at: '2026-04-26T09:30:00.000Z', by: 'session' },
      { what: 'no conversation is open', at: '2026-04-26T10:00:00.000Z', by: 'bridge' },
    ])
  })

  test('of a session that acts are none', () => {
    expect(findingsOf(factsOf({ session: sessionOf({ actedAt: noon - minute }) }))).toEqual([])
  })
})
