import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { historyOf } from './history.ts'
import { hashOf } from './story.ts'
import { World } from './world.ts'

const run = promisify(execFile)

// What a fault was found by stays: `npm run simulate -- --only <seed> --keep <file>` on the sources that had it.
const found = fileURLToPath(new URL('./found', import.meta.url))

test('the same seed is the same history, twice in one process and in two processes', { timeout: 60_000 }, async () => {
  const seed = 'alike.22'
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
  test.each(readdirSync(found))('the history that found %s', async (name) => {
    const history = JSON.parse(readFileSync(join(found, name), 'utf8'))
    expect((await World.play(history)).failure).toBeUndefined()
  })

  test('some histories', { timeout: 120_000 }, async () => {
    for (let count = 0; count < 20; count++) {
      const { failure } = await World.play(historyOf(`some.${count}`))
      expect(failure, `npm run simulate -- --only some.${count}`).toBeUndefined()
    }
  })
})
