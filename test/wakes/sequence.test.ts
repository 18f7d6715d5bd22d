import { expect, test } from 'vitest'
import { Sequence } from '../../src/wakes/run/sequence.ts'

test('slots pass in the order in which they were handed out, whatever is ready first', async () => {
  const sequence = new Sequence()
  const passed: number[] = []
  const [first, second, third] = [sequence.next(), sequence.next(), sequence.next()]
  const waiting = [first, second, third].map(({ before }, index) => before.then(() => passed.push(index)))
  third.pass()
  second.pass()
  await waiting[0]
  expect(passed).toEqual([0])
  first.pass()
  await Promise.all(waiting)
  expect(passed).toEqual([0, 1, 2])
})
