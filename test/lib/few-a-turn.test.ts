import { expect, test } from 'vitest'
import { FewATurn } from '../../src/lib/few-a-turn.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a few go on at once, the others in later turns, in the order in which they came', async () => {
  const few = new FewATurn(3)
  const went: number[] = []
  for (let index = 0; index < 8; index++) {
    const waits = few.take()
    if (waits) void waits.then(() => went.push(index))
    else went.push(index)
  }
  expect(went).toEqual([0, 1, 2])
  await turn()
  expect(went).toEqual([0, 1, 2, 3, 4, 5])
  await turn()
  expect(went).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})

test('who comes later does not overtake who waits', async () => {
  const few = new FewATurn(1)
  const went: string[] = []
  few.take()
  void few.take()!.then(() => went.push('waited'))
  const late = few.take()
  expect(late).toBeInstanceOf(Promise)
  void late!.then(() => went.push('late'))
  await turn()
  await turn()
  expect(went).toEqual(['waited', 'late'])
})

test('a turn without callers leaves nothing behind', async () => {
  const few = new FewATurn(2)
  for (let round = 0; round < 5; round++) {
    expect(few.take()).toBe(undefined)
    expect(few.take()).toBe(undefined)
    await turn()
  }
})
