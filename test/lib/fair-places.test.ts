import { expect, test } from 'vitest'
import { FairPlaces, type Payer, type Place } from '../../src/lib/fair-places.ts'

const bounds = { total: 20, project: 12, agent: 8, target: 6, agentTarget: 5 }
const payer = (agentId: string, projectId = 'p'): Payer => ({ agentId, projectId })
const iteration = () => new Promise(setImmediate)

/** Asks for places and keeps those that come, in the order in which they came. */
function crowd(places = new FairPlaces(bounds)) {
  const came: { who: string; place: Place }[] = []
  const ask = (who: string, by: Payer, target: string, signal = new AbortController().signal): void => {
    const place = places.placeOf(by, target)
    if (places.tryTake(place)) came.push({ who, place })
    else void places.take(place, signal).then((how) => how === 'taken' && came.push({ who, place }))
  }
  const count = (who: string) => came.filter((one) => one.who === who).length
  const leave = (who: string): void => {
    const index = came.findIndex((one) => one.who === who)
    places.leave(came.splice(index, 1)[0]!.place)
  }
  return { places, came, ask, count, leave }
}

test('a target, an agent, a project and all together have as many places as they are allowed', () => {
  const { places, ask, count } = crowd()
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
  expect(places.inFlight).toBe(20)
})

test('places that become free go round: projects, their agents, the agents’ targets', async () => {
  const { ask, came, leave, places } = crowd(new FairPlaces({ ...bounds, total: 4 }))
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
  expect(places.inFlight).toBe(4)
})

test('who gives up holds no place, and takes nobody else out of the queue', async () => {
  const { places, ask, count, leave } = crowd()
  for (let i = 0; i < 5; i++) ask('first', payer('a'), 'http://a')
  const impatient = new AbortController()
  ask('impatient', payer('a'), 'http://a', impatient.signal)
  ask('patient', payer('a'), 'http://a')
  impatient.abort()
  leave('first')
  await iteration()
  expect([count('impatient'), count('patient'), places.inFlight]).toEqual([0, 1, 5])
})

test('who had given up before is not let in', async () => {
  const { places, ask } = crowd()
  for (let i = 0; i < 5; i++) ask('first', payer('a'), 'http://a')
  expect(await places.take(places.placeOf(payer('a'), 'http://a'), AbortSignal.abort())).toBe('stopped')
})

test('what nobody uses is forgotten: 100,000 targets of an agent leave room for what is in use', () => {
  const places = new FairPlaces({ ...bounds, agent: 20 })
  const kept = places.placeOf(payer('b'), 'http://kept')
  places.tryTake(kept)
  for (let i = 0; i < 100_000; i++) {
    const place = places.placeOf(payer('a'), `http://${i}`)
    places.tryTake(place)
    places.leave(place)
  }
  expect(places.inFlight).toBe(1)
  expect(places.remembered).toBeLessThan(10_000)
  expect(places.placeOf(payer('b'), 'http://kept')).toBe(kept)
})
