import { expect, test } from 'vitest'
import { FairGate, promptMs, type Ticket } from '../../src/lib/fair-gate.ts'
import { until } from '../support/until.ts'

const usual = { total: 20, project: 12, agent: 8, target: 6, agentTarget: 5 }
const slow = { total: 4, project: 4, agent: 3, target: 3, agentTarget: 2 }
const a = { agentId: 'a', projectId: 'p' }

/** Asks for places of one agent and keeps the tickets that come, by target. */
function crowd() {
  const gate = new FairGate({ usual, slow })
  const came = new Map<string, Ticket[]>()
  const at = (target: string): Ticket[] => {
    if (!came.has(target)) came.set(target, [])
    return came.get(target)!
  }
  const ask = (target: string, count: number): void => {
    for (let i = 0; i < count; i++) {
      const entering = gate.enter(a, target, new AbortController().signal)
      if (entering instanceof Promise) void entering.then((ticket) => ticket && at(target).push(ticket))
      else at(target).push(entering)
    }
  }
  const leave = (target: string, isPrompt: boolean): void => gate.leave(at(target).shift()!, isPrompt)
  return { gate, ask, leave, count: (target: string) => at(target).length }
}

const iteration = () => new Promise(setImmediate)

test('an agent’s targets that keep it waiting share a few places, and its healthy target has all of the others', async () => {
  const { ask, leave, count } = crowd()
  for (let i = 0; i < 4; i++) {
    ask(`dead${i}`, 1)
    leave(`dead${i}`, false)
  }
  for (let i = 0; i < 4; i++) ask(`dead${i}`, 5)
  expect([0, 1, 2, 3].map((i) => count(`dead${i}`))).toEqual([2, 1, 0, 0])
  ask('healthy', 5)
  expect(count('healthy')).toBe(5)
})

test('what waits for a target that becomes slow waits with the slow ones; a prompt answer lets it go back', async () => {
  const { gate, ask, leave, count } = crowd()
  ask('target', 8)
  expect(count('target')).toBe(5)
  leave('target', false)
  await iteration()
  expect(count('target')).toBe(4 + 2)
  leave('target', true)
  await iteration()
  expect(count('target')).toBe(5 + 1)
  while (count('target') > 0) leave('target', true)
  expect(gate.inFlight).toBe(0)
})

test('attempts that hang leave their places to others after a second', async () => {
  const { ask, count, leave, gate } = crowd()
  ask('hanging0', 4)
  ask('hanging1', 4)
  ask('healthy', 1)
  expect(count('healthy')).toBe(0)
  const since = performance.now()
  await until(
    () => count('healthy'),
    (places) => places === 1,
  )
  expect(performance.now() - since).toBeGreaterThan(promptMs * 0.9)
  expect(gate.inFlight).toBe(9)
  for (let i = 0; i < 4; i++) for (const target of ['hanging0', 'hanging1']) leave(target, false)
  leave('healthy', true)
  expect(gate.inFlight).toBe(0)
})
