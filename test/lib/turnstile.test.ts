import { expect, test } from 'vitest'
import { type Leave, Turnstile } from '../../src/lib/turnstile.ts'

const room = { inside: 2, waiting: 2 }

test('so many are inside, so many wait in their order, and more are refused', async () => {
  const turnstile = new Turnstile()
  const first = turnstile.enter('a', room) as Leave
  const second = turnstile.enter('a', room) as Leave
  const seen: string[] = []
  const third = Promise.resolve(turnstile.enter('a', room) as Promise<Leave>).then((leave) => {
    seen.push('third')
    return leave
  })
  const fourth = Promise.resolve(turnstile.enter('a', room) as Promise<Leave>).then((leave) => {
    seen.push('fourth')
    return leave
  })
  expect(turnstile.enter('a', room)).toBeUndefined()
  expect(turnstile.enter('b', room)).toBeTypeOf('function')
  second()
  second()
  const leaveThird = await third
  expect(seen).toEqual(['third'])
  first()
  const leaveFourth = await fourth
  leaveThird()
  leaveFourth()
  expect([turnstile.enter('a', room), turnstile.enter('a', room)].every((leave) => typeof leave === 'function')).toBe(
    true,
  )
})

test('0 is no limit', () => {
  const turnstile = new Turnstile()
  const leaves = Array.from({ length: 1_000 }, () => turnstile.enter('a', { inside: 0, waiting: 1 }))
  expect(leaves.every((leave) => typeof leave === 'function')).toBe(true)
})
