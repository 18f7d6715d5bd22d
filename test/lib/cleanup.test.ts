import { expect, test } from 'vitest'
import { Cleanup } from '../../src/lib/cleanup.ts'

test('resources are closed in reverse order, also after a failed step, and only once', async () => {
  const closed: string[] = []
  const cleanup = new Cleanup()
  cleanup.defer(() => closed.push('first'))
  cleanup.defer(async () => {
    throw new Error('will not close')
  })
  cleanup.use({ [Symbol.asyncDispose]: async () => void closed.push('last') })
  await expect(cleanup[Symbol.asyncDispose]()).rejects.toThrow('will not close')
  await cleanup[Symbol.asyncDispose]()
  expect(closed).toEqual(['last', 'first'])
})

test('moved resources are closed only by their new owner', async () => {
  const closed: string[] = []
  let owner: Cleanup
  {
    await using cleanup = new Cleanup()
    cleanup.defer(() => closed.push('it'))
    owner = cleanup.move()
  }
  expect(closed).toEqual([])
  await owner[Symbol.asyncDispose]()
  expect(closed).toEqual(['it'])
})
