import { expect, test } from 'vitest'
import { LoopSlots } from '../../src/lib/loop-slots.ts'

const iteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a few go on at once, the others in later iterations, in the order in which they came', async () => {
  const slots = new LoopSlots(3)
  const went: number[] = []
  for (let index = 0; index < 8; index++) {
    const waits = slots.take()
    if (waits) void waits.then(() => went.push(index))
    else went.push(index)
  }
  expect(went).toEqual([0, 1, 2])
  await iteration()
  expect(went).toEqual([0, 1, 2, 3, 4, 5])
  await iteration()
  expect(went).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('who comes later does not overtake who waits', async () => {
  const slots = new LoopSlots(1)
  const went: string[] = []
  slots.take()
  void slots.take()!.then(() => went.push('waited'))
  const late = slots.take()
  expect(late).toBeInstanceOf(Promise)
  void late!.then(() => went.push('late'))
  await iteration()
  await iteration()
  expect(went).toEqual(['waited', 'late'])
})

test('every iteration has its slots again, also when nobody waited for one', async () => {
  const slots = new LoopSlots(2)
  for (let round = 0; round < 5; round++) {
    expect(slots.take()).toBe(undefined)
    expect(slots.take()).toBe(undefined)
    await iteration()
  }
})
