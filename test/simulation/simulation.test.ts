import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { historyOf } from './history.ts'
import { hashOf } from './story.ts'
import { World } from './world.ts'

const run = promisify(execFile)

// Of what was found once, each history stays.
const found: readonly string[] = []

test('the same seed is the same history, twice in one process and in two processes', { timeout: 60_000 }, async () => {
  const seed = 'alike.3'
  const [first, second] = [await World.play(historyOf(seed)), await World.play(historyOf(seed))]
  expect(first.posts).toBeGreaterThan(0)
  expect(hashOf(second)).toBe(hashOf(first))
  const script = resolve(import.meta.dirname, 'run.ts')
  const other = await run(process.execPath, ['--import', 'tsx', script, '--only', seed, '--whole'])
  expect(other.stdout).toContain(`Trace ${hashOf(first)}`)
})

test('another seed is another history', async () => {
  expect(hashOf(await World.play(historyOf('one')))).not.toBe(hashOf(await World.play(historyOf('other'))))
})

describe('every rule holds in', () => {
  test.each(found)('the history %s', async (seed) => {
    expect((await World.play(historyOf(seed))).failure).toBeUndefined()
  })

  test('some histories', { timeout: 120_000 }, async () => {
    for (let count = 0; count < 30; count++) {
      const { failure } = await World.play(historyOf(`some.${count}`))
      expect(failure, `npm run simulate -- --only some.${count}`).toBeUndefined()
    }
  })
})
