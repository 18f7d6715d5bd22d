import { expect, test } from 'vitest'
import { KeyedSemaphore, type Leave } from '../../src/lib/keyed-semaphore.ts'

const room = { inside: 2, waiting: 2 }

test('a caller gets a place, waits in line for one, or is refused when the line is full', async () => {
  const semaphore = new KeyedSemaphore()
  const first = semaphore.enter('a', room) as Leave
  const second = semaphore.enter('a', room) as Leave
  const seen: string[] = []
  const third = Promise.resolve(semaphore.enter('a', room) as Promise<Leave>).then((leave) => {
    seen.push('third')
    return leave
  })
  const fourth = Promise.resolve(semaphore.enter('a', room) as Promise<Leave>).then((leave) => {
    seen.push('fourth')
    return leave
  })
  expect(semaphore.enter('a', room)).toBeUndefined()
  expect(semaphore.enter('b', room)).toBeTypeOf('function')
  second()
  second()
  const leaveThird = await third
  expect(seen).toEqual(['third'])
  first()
  const leaveFourth = await fourth
  leaveThird()
  leaveFourth()
  expect([semaphore.enter('a', room), semaphore.enter('a', room)].every((leave) => typeof leave === 'function')).toBe(
    true,
  )
})

test('0 is no limit', () => {
  const semaphore = new KeyedSemaphore()
  const leaves = Array.from({ length: 1_000 }, () => semaphore.enter('a', { inside: 0, waiting: 1 }))
  expect(leaves.every((leave) => typeof leave === 'function')).toBe(true)
})
