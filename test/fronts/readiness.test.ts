import { expect, test } from 'vitest'
import { ReadinessProbe } from '../../src/fronts/readiness.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { logLines } from '../support/log-lines.ts'

function open() {
  const clock = new FakeClock()
  const { log, lines } = logLines()
  const world = {
    reads: 0,
    writes: 0,
    isLeasing: true,
    isClockRight: true,
    write: async (): Promise<unknown> => undefined,
  }
  const read = async () => void world.reads++
  const write = () => {
    world.writes++
    return world.write()
  }
  const isLeasing = () => world.isLeasing
  const probe = new ReadinessProbe({ read, write, isLeasing, isClockRight: () => world.isClockRight }, { clock, log })
  return { clock, world, probe, lines }
}

test('however often it is requested, the store is tried once a second', async () => {
  const { clock, world, probe } = open()
  await Promise.all(Array.from({ length: 100 }, () => probe.check()))
  clock.advance(999)
  await probe.check()
  expect([world.reads, world.writes]).toEqual([1, 1])
  clock.advance(1)
  await probe.check()
  expect([world.reads, world.writes]).toEqual([2, 2])
})

test('a write that fails, and claims that fail, are distinguished', async () => {
  const { clock, world, probe } = open()
  world.write = () => Promise.reject(new Error('read-only'))
  expect(await probe.check()).toEqual({ store: true, writes: false, dispatcher: true, clock: true })
  world.write = async () => undefined
  world.isLeasing = false
  clock.advance(1_000)
  expect(await probe.check()).toEqual({ store: true, writes: true, dispatcher: false, clock: true })
  world.isLeasing = true
  world.isClockRight = false
  expect(await probe.check()).toEqual({ store: true, writes: true, dispatcher: true, clock: false })
})

test('a write without an answer counts as failed after two seconds, and no second one is sent after it', async () => {
  const { clock, world, probe } = open()
  let answer = (_: unknown) => {}
  world.write = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  for (let n = 0; n < 3; n++) {
    const found = probe.check()
    await new Promise(setImmediate)
    clock.advance(2_000)
    expect(await found).toMatchObject({ writes: false })
  }
  expect(world.writes).toBe(1)
  answer(undefined)
  await new Promise(setImmediate)
  world.write = async () => undefined
  expect(await probe.check()).toMatchObject({ writes: true })
  expect(clock.timerCount).toBe(0)
})

test('a change is logged once, with what is missing', async () => {
  const { clock, world, probe, lines } = open()
  world.isLeasing = false
  for (let n = 0; n < 3; n++) {
    await probe.check()
    clock.advance(1_000)
  }
  world.isLeasing = true
  await probe.check()
  expect(lines).toEqual([
    { level: 'warn', event: 'gateway.unready', store: true, writes: true, dispatcher: false, clock: true },
    { level: 'info', event: 'gateway.ready', store: true, writes: true, dispatcher: true, clock: true },
  ])
})
