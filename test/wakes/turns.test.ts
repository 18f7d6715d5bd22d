import { expect, test } from 'vitest'
import { Turns } from '../../src/wakes/run/turns.ts'

test('turns pass in the order in which they were handed out, whatever is ready first', async () => {
  const turns = new Turns()
  const passed: number[] = []
  const [first, second, third] = [turns.next(), turns.next(), turns.next()]
  const waiting = [first, second, third].map(({ before }, index) => before.then(() => passed.push(index)))
  third.pass()
  second.pass()
  await waiting[0]
  expect(passed).toEqual([0])
  first.pass()
  await Promise.all(waiting)
  expect(passed).toEqual([0, 1, 2])
})
