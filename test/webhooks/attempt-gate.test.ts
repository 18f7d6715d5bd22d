import { expect, test } from 'vitest'
import { AttemptGate } from '../../src/webhooks/attempt-gate.ts'

/** A try that ends when it is told to. */
function held(gate: AttemptGate, origin: string, running: string[]) {
  let end = (_answered: boolean): void => {}
  const act = () => {
    running.push(origin)
    return new Promise<boolean>((resolve) => {
      end = resolve
    })
  }
  const done = gate.through(origin, act, (answered) => answered)
  return { done, end: (answered: boolean) => end(answered) }
}

const turn = () => new Promise(setImmediate)

test('an origin has 64 tries in flight and no more, and another is not kept waiting by it', async () => {
  const gate = new AttemptGate()
  const running: string[] = []
  for (let i = 0; i < 100; i++) held(gate, 'http://slow', running)
  held(gate, 'http://quick', running)
  await turn()
  expect(running.filter((origin) => origin === 'http://slow')).toHaveLength(64)
  expect(running).toContain('http://quick')
  expect(gate.inFlight).toBe(65)
})

test('an origin that does not answer is left with 8, and answers give it back one by one', async () => {
  const gate = new AttemptGate()
  const running: string[] = []
  const tries = Array.from({ length: 64 }, () => held(gate, 'http://dead', running))
  await turn()
  for (const attempt of tries) attempt.end(false)
  await turn()
  expect(gate.inFlight).toBe(0)

  running.length = 0
  const later = Array.from({ length: 20 }, () => held(gate, 'http://dead', running))
  await turn()
  expect(running).toHaveLength(8)
  later[0]!.end(true)
  await turn()
  expect(running).toHaveLength(10) // the one that left, and one more than before
})

test('a try that throws leaves its place', async () => {
  const gate = new AttemptGate()
  await expect(
    gate.through(
      'http://a',
      () => Promise.reject(new Error('broken')),
      () => true,
    ),
  ).rejects.toThrow('broken')
  expect(gate.inFlight).toBe(0)
})

test('over all origins 1,024 are in flight, and waiting origins take turns', async () => {
  const gate = new AttemptGate()
  const running: string[] = []
  const first = Array.from({ length: 1_024 }, (_, i) => held(gate, `http://o${i % 32}`, running))
  await turn()
  expect(gate.inFlight).toBe(1_024)
  for (let i = 0; i < 10; i++) held(gate, 'http://many', running)
  for (let i = 0; i < 10; i++) held(gate, 'http://few', running)
  running.length = 0
  for (let i = 0; i < 4; i++) first[i]!.end(true)
  await turn()
  expect(running).toEqual(['http://many', 'http://few', 'http://many', 'http://few'])
})
