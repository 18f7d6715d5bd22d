import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { sleep, systemClock } from '../../../src/lib/clock.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { bundled } from '../bundled.ts'
import { replOf } from './repl.ts'

let script = ''

beforeAll(() => {
  script = bundled(join(import.meta.dirname, 'crashing-start.ts'))
})

/** One life: it gets the order of the epoch 7, and is killed so many ms after it has begun; undefined: it ends by itself. */
async function live(argv: readonly string[], killAfterMs: number | undefined): Promise<void> {
  const child = spawn(process.execPath, [script, ...argv], { stdio: ['ignore', 'pipe', 'ignore'] })
  const gone = once(child, 'exit')
  await once(child.stdout, 'data')
  if (killAfterMs === undefined) return void (await gone)
  await sleep(systemClock, killAfterMs)
  child.kill('SIGKILL')
  await gone
}

// Before the record, between the record and the process, while the process waits for its word, and after.
test.each([0, 15, 40, 300])(
  'a bridge that is killed with -9 after %s ms of a restart starts no second process for it, and leaves none',
  async (killAfterMs) => {
    using home = dataDirectory()
    const cwd = join(home.path, 'app')
    mkdirSync(cwd)
    const repl = replOf({ cwd, recipe: { settleMs: 300 } })
    const argv = [join(home.path, 'state', 'bridge.db'), JSON.stringify(repl.recipe)]
    await live(argv, killAfterMs)
    await live(argv, undefined)
    await live(argv, undefined)
    expect(repl.starts().length).toBeLessThanOrEqual(1)
    expect(repl.running()).toEqual([])
  },
)
