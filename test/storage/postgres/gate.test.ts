import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Gate } from '../../../src/storage/postgres/gate.ts'
import { GatePlace } from '../../../src/storage/postgres/gate-place.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('one group is inside at a time, and the others follow in the order of their arrival', async () => {
  const gate = new Gate(1_000)
  const entered: string[] = []
  expect(gate.enter()).toBeUndefined()
  const [second, third] = ['second', 'third'].map((name) => gate.enter()?.entered.then(() => entered.push(name)))
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
  await impatient?.entered
  gate.leave(Promise.resolve())
  gate.leave(Promise.resolve())
  expect(gate.enter()).toBeUndefined()
  const next = gate.enter()
  gate.leave(Promise.resolve())
  await next?.entered
  gate.leave(Promise.resolve())
  expect(vi.getTimerCount()).toBe(0)
})

test('a group that gives up while it waits lets nobody in, and those after it keep their places', async () => {
  const gate = new Gate(1_000)
  expect(gate.enter()).toBeUndefined()
  const entered: string[] = []
  const lost = gate.enter()
  const next = gate.enter()?.entered.then(() => entered.push('next'))
  lost?.giveUp()
  await lost?.entered
  expect(entered).toEqual([])
  gate.leave(undefined)
  await next
  expect(entered).toEqual(['next'])
  gate.leave(undefined)
  expect(gate.enter()).toBeUndefined()
  expect(vi.getTimerCount()).toBe(0)
})

test('a place that is left while it waits is given up, and can be taken again', async () => {
  const gate = new Gate(1_000)
  expect(gate.enter()).toBeUndefined()
  const place = new GatePlace(gate)
  expect(place.enter()).toBeInstanceOf(Promise)
  place.leave(undefined)
  place.leave(undefined)
  gate.leave(undefined)
  expect(place.enter()).toBeUndefined()
  place.leave(undefined)
  expect(gate.enter()).toBeUndefined()
})
