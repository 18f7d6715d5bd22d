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
  const done = through(gate, origin, act)
  return { done, end: (answered: boolean) => end(answered) }
}

/** Takes a place, acts, gives it back. */
async function through(gate: AttemptGate, origin: string, act: () => Promise<boolean>): Promise<void> {
  await gate.enter(origin, new AbortController().signal)
  gate.leave(origin, await act())
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

test('who gives up waiting holds no place, and takes nobody else out of the queue', async () => {
  const gate = new AttemptGate()
  const running: string[] = []
  const first = Array.from({ length: 64 }, () => held(gate, 'http://a', running))
  const impatient = new AbortController()
  const place = gate.enter('http://a', impatient.signal)
  held(gate, 'http://a', running)
  impatient.abort()
  expect(await place).toBe(false)
  first[0]!.end(true)
  await turn()
  expect(running).toHaveLength(65)
  expect(gate.inFlight).toBe(64)
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
