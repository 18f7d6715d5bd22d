import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Gate } from '../../../src/storage/postgres/gate.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('one group is inside at a time, and the others follow in the order of their arrival', async () => {
  const gate = new Gate(1_000)
  const entered: string[] = []
  expect(gate.enter()).toBeUndefined()
  const [second, third] = ['second', 'third'].map((name) => gate.enter()?.then(() => entered.push(name)))
  await Promise.resolve()
  expect(entered).toEqual([])
  gate.leave(Promise.resolve())
  await second
  expect(entered).toEqual(['second'])
  gate.leave(Promise.resolve())
  await third
  expect(entered).toEqual(['second', 'third'])
  gate.leave(Promise.resolve())
  expect(gate.enter()).toBeUndefined()
})

test('no group waits longer than the patience, and one that entered early does not block later groups', async () => {
  const gate = new Gate(1_000)
  expect(gate.enter()).toBeUndefined()
  const impatient = gate.enter()
  vi.advanceTimersByTime(1_000)
  await impatient
  gate.leave(Promise.resolve())
  gate.leave(Promise.resolve())
  expect(gate.enter()).toBeUndefined()
  const next = gate.enter()
  gate.leave(Promise.resolve())
  await next
  gate.leave(Promise.resolve())
  expect(vi.getTimerCount()).toBe(0)
})
