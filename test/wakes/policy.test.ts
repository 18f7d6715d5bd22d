import { describe, expect, test } from 'vitest'
import { matches, wakePolicyOf } from '../../src/wakes/rules/match.ts'
import { decide, type Route, routeOf } from '../../src/wakes/rules/policy.ts'
import { priorities, type WakePolicy, wakePolicies } from '../../src/words/policies.ts'
import { type PresenceState, presenceStates } from '../../src/words/presence.ts'
import { harnessTargets, type RouteKind, routeKinds, targets } from '../../src/words/targets.ts'
import { messageSent, subscriptionOf } from './builders.ts'

/** The abilities of a route, one word each: `start`, `spawn`, `steer`, `append`. */
const abilities = [
  '',
  'start',
  'steer',
  'append',
  'start steer',
  'start append',
  'steer append',
  'start steer append',
  'spawn',
  'spawn append',
]
const turns = ['no turn', 'turn known'] as const

// The whole table. `*` is any; a line needs the abilities that it names; the first line that fits a cell is its answer.
const lines = `
policy    | route             | presence          | can            | turn       | action             | reason
silent    | *                 | *                 | *              | *          | store_only         | silent
next_turn | *                 | *                 | *              | *          | hold_for_next_turn | next_turn
immediate | webhook           | *                 | *              | *          | deliver            | receiver_decides
immediate | mcp-notifications | *                 | *              | *          | deliver            | receiver_decides
immediate | none              | *                 | *              | *          | hold_for_next_turn | no_route
immediate | bridge            | *                 | spawn          | *          | deliver            | starts_process
immediate | bridge            | unknown           | append         | *          | deliver            | append_only
immediate | bridge            | unknown           | *              | *          | hold_for_next_turn | presence_unknown
immediate | bridge            | idle              | start          | *          | deliver            | starts_turn
immediate | bridge            | idle              | append         | *          | deliver            | append_only
immediate | bridge            | idle              | *              | *          | hold_for_next_turn | cannot_start_turn
immediate | bridge            | active            | steer          | turn known | steer              | steers_turn
immediate | bridge            | active            | append         | *          | deliver            | append_only
immediate | bridge            | active            | *              | *          | hold_for_next_turn | turn_active
immediate | bridge            | waitingOnApproval | steer append   | turn known | steer              | steers_turn
immediate | bridge            | waitingOnApproval | append         | *          | deliver            | append_only
immediate | bridge            | waitingOnApproval | *              | *          | hold_for_next_turn | waiting_on_approval
immediate | bridge            | userTyping        | *              | *          | hold_for_next_turn | user_typing
`
const rows = lines
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('|').map((word) => word.trim()))

// S1-9…S1-21, D6, D34
describe.each(wakePolicies)('%s', (policy) => {
  describe.each(routeKinds)('by %s', (kind) => {
    test.each(presenceStates)('to a harness that is %s', (state) => {
      for (const can of abilities) {
        for (const turn of turns) {
          const [, , , , , action, reason] = rows.find((row) => fits(row, policy, kind, state, can, turn))!
          const activeTurnId = turn === 'turn known' ? 'turn_1' : null
          expect(decide(policy, routeWith(kind, can), { state, activeTurnId }), `${can}, ${turn}`).toEqual({
            action,
            reason,
          })
        }
      }
    })
  })
})

test('every line of the table is used', () => {
  const used = new Set<string[]>()
  for (const policy of wakePolicies)
    for (const kind of routeKinds)
      for (const state of presenceStates)
        for (const can of abilities)
          for (const turn of turns) used.add(rows.find((row) => fits(row, policy, kind, state, can, turn))!)
  expect(rows.filter((row) => !used.has(row))).toEqual([])
})

test('presence is read for a target where it can change the decision, and for no other', () => {
  for (const target of harnessTargets) {
    const decisions = presenceStates.map((state) => {
      const everything = routeOf(target, ['turn/start', 'turn/steer', 'append-only'])
      return JSON.stringify(decide('immediate', everything, { state, activeTurnId: 't' }))
    })
    expect(new Set(decisions).size > 1, target).toBe(targets[target].isGated)
  }
})

// D6
test('unknown presence holds nothing for a receiver with its own rules', () => {
  for (const target of ['a2a-webhook', 'mcp-notifications'] as const) {
    for (const state of presenceStates) {
      expect(decide('immediate', routeOf(target), { state, activeTurnId: null }).action).toBe('deliver')
    }
  }
})

// S1-13
test('a user who types is never interrupted, whatever the bridge can do', () => {
  const everything = routeOf('bridge-daemon', ['turn/start', 'turn/steer', 'append-only'])
  expect(decide('immediate', everything, { state: 'userTyping', activeTurnId: 't' }).action).toBe('hold_for_next_turn')
})

// S1-9, S1-11, S1-12
test('what the stream says and what the session says is one route', () => {
  const both = routeOf('bridge-daemon', ['append-only', 'turn/steer'])
  expect(both).toMatchObject({ appendOnly: true, canSteer: true, canStartTurn: false, spawns: false })
  expect(decide('immediate', both, { state: 'waitingOnApproval', activeTurnId: 't' }).action).toBe('steer')
  expect(decide('immediate', both, { state: 'unknown', activeTurnId: null }).reason).toBe('append_only')
})

// S1-16
test('priority and policy never follow from one another', () => {
  for (const wakePolicy of wakePolicies) {
    for (const priority of priorities) {
      const event = messageSent(1, { wakePolicy, priority })
      expect(wakePolicyOf(event, 'donna')).toBe(wakePolicy)
      expect(matches(subscriptionOf(), event)).toBe(wakePolicy === 'immediate')
      for (const harnessTarget of harnessTargets) {
        const ofOthers = priorities.map((other) =>
          matches(subscriptionOf({ harnessTarget }), messageSent(1, { wakePolicy, priority: other })),
        )
        expect(new Set(ofOthers).size).toBe(1)
      }
    }
  }
})

test('a policy of a later version holds rather than interrupts', () => {
  expect(wakePolicyOf(messageSent(1, { wakePolicy: 'at_dawn' }), 'donna')).toBe('next_turn')
})

function routeWith(kind: RouteKind, can: string): Route {
  return {
    kind,
    canStartTurn: can.includes('start'),
    spawns: can.includes('spawn'),
    canSteer: can.includes('steer'),
    appendOnly: can.includes('append'),
  }
}

function fits(
  [policy, kind, state, can, turn]: string[],
  ...cell: [policy: WakePolicy, kind: RouteKind, state: PresenceState, can: string, turn: string]
): boolean {
  const [ofPolicy, ofKind, ofState, ofCan, ofTurn] = cell
  const same = (pattern: string, value: string) => pattern === '*' || pattern === value
  const able = can === '*' || can!.split(' ').every((ability) => ofCan.split(' ').includes(ability))
  return same(policy!, ofPolicy) && same(kind!, ofKind) && same(state!, ofState) && able && same(turn!, ofTurn)
}
