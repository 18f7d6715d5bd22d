import { expect, test } from 'vitest'
import { Cleanup } from '../../src/lib/cleanup.ts'

test('what was opened is closed in reverse, also behind a step that fails, and once', async () => {
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

test('what was handed on is closed by its new owner alone', async () => {
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
