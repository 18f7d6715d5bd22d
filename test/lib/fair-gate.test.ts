import { expect, test } from 'vitest'
import { FairGate, type Payer, type Place } from '../../src/lib/fair-gate.ts'

const bounds = { total: 20, project: 12, agent: { max: 8, slow: 4 }, target: 6, agentTarget: { max: 5, slow: 2 } }
const payer = (agentId: string, projectId = 'p'): Payer => ({ agentId, projectId })
const iteration = () => new Promise(setImmediate)
const patient = new AbortController().signal

/** Asks for places and keeps those that come, in the order in which they came. */
function crowd(gate = new FairGate(bounds)) {
  const came: { who: string; place: Place }[] = []
  const ask = (who: string, by: Payer, target: string, signal = new AbortController().signal): void => {
    const entering = gate.enter(by, target, signal)
    const arrive = (place: Place | undefined) => place && came.push({ who, place })
    if (entering instanceof Promise) void entering.then(arrive)
    else arrive(entering)
  }
  const count = (who: string) => came.filter((one) => one.who === who).length
  const leave = (who: string, prompt = true): void => {
    const index = came.findIndex((one) => one.who === who)
    gate.leave(came.splice(index, 1)[0]!.place, prompt)
  }
  return { gate, came, ask, count, leave }
}

test('a target, an agent, a project and all together have as many places as they are allowed', () => {
  const { gate, ask, count } = crowd()
  for (let i = 0; i < 10; i++) ask('one target', payer('a', 'p'), 'http://a')
  expect(count('one target')).toBe(5)
  for (let i = 0; i < 10; i++) ask('other target', payer('a', 'p'), 'http://b')
  expect(count('other target')).toBe(3)
  for (let i = 0; i < 10; i++) ask('same target', payer('b', 'p'), 'http://a')
  expect(count('same target')).toBe(1)
  for (let i = 0; i < 10; i++) ask('same project', payer('b', 'p'), `http://c${i}`)
  expect(count('same project')).toBe(3)
  for (let i = 0; i < 20; i++) ask('other project', payer(`c${i}`, 'q'), `http://d${i}`)
  expect(count('other project')).toBe(8)
  expect(gate.inFlight).toBe(20)
})

test('places that become free go round: projects, their agents, the agents’ targets', async () => {
  const { ask, came, leave, gate } = crowd(new FairGate({ ...bounds, total: 4 }))
  for (let i = 0; i < 4; i++) ask('first', payer(`f${i}`), `http://f${i}`)
  for (let i = 0; i < 4; i++) ask('p a 1', payer('a', 'p'), 'http://1')
  for (let i = 0; i < 4; i++) ask('p a 2', payer('a', 'p'), 'http://2')
  for (let i = 0; i < 4; i++) ask('p b', payer('b', 'p'), 'http://1')
  for (let i = 0; i < 4; i++) ask('q', payer('c', 'q'), 'http://1')
  const order: string[] = []
  for (let i = 0; i < 8; i++) {
    leave(came[0]!.who)
    await iteration()
    order.push(came.at(-1)!.who)
  }
  expect(order).toEqual(['p a 1', 'q', 'p b', 'q', 'p a 2', 'q', 'p b', 'q'])
  expect(gate.inFlight).toBe(4)
})

test('a target that keeps its agent waiting is left with few places, and its agent too; prompt answers give them back', async () => {
  const { gate, ask, count, leave } = crowd()
  for (let i = 0; i < 5; i++) ask('dead', payer('a'), 'http://dead')
  for (let i = 0; i < 5; i++) leave('dead', false)
  for (let i = 0; i < 5; i++) ask('dead', payer('a'), 'http://dead')
  expect(count('dead')).toBe(2)
  for (let i = 0; i < 5; i++) ask('healthy', payer('a'), 'http://healthy')
  expect(count('healthy')).toBe(2)
  for (let i = 0; i < 5; i++) ask('other agent', payer('b'), 'http://dead')
  expect(count('other agent')).toBe(4) // the target's own bound is six
  leave('healthy', true)
  await iteration()
  expect(count('healthy')).toBe(3)
  expect(gate.inFlight).toBe(2 + 3 + 4)
})

test('who gives up holds no place, and takes nobody else out of the queue', async () => {
  const { gate, ask, count, leave } = crowd()
  for (let i = 0; i < 5; i++) ask('first', payer('a'), 'http://a')
  const impatient = new AbortController()
  ask('impatient', payer('a'), 'http://a', impatient.signal)
  ask('patient', payer('a'), 'http://a')
  impatient.abort()
  leave('first')
  await iteration()
  expect([count('impatient'), count('patient'), gate.inFlight]).toEqual([0, 1, 5])
})

test('who had given up before is not let in', async () => {
  const { gate, ask } = crowd()
  for (let i = 0; i < 5; i++) ask('first', payer('a'), 'http://a')
  expect(await gate.enter(payer('a'), 'http://a', AbortSignal.abort())).toBeUndefined()
})

test('what nobody uses is forgotten: 100,000 targets of an agent leave room for what is in use', () => {
  const gate = new FairGate({ ...bounds, agent: { max: 20, slow: 20 } })
  const kept = gate.enter(payer('b'), 'http://kept', patient) as Place
  for (let i = 0; i < 100_000; i++) gate.leave(gate.enter(payer('a'), `http://${i}`, patient) as Place, false)
  expect(gate.inFlight).toBe(1)
  expect(gate.remembered).toBeLessThan(10_000)
  expect(gate.enter(payer('b'), 'http://kept', patient)).toBe(kept)
})
