import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withLogFile } from '../../../src/cli/service/log-file.ts'
import { dataDirectory } from '../../support/data-directory.ts'

const io = { stdout() {}, stderr() {}, env: {} }

test('a log file stays small, is this user’s alone, and ends with what went wrong', async () => {
  using directory = dataDirectory()
  const path = join(directory.path, 'state', 'bridge.log')
  const act = withLogFile(io, path, async ({ stdout, stderr }) => {
    for (let count = 0; count < 30; count++) stdout(`${'x'.repeat(100_000)}\n`)
    stderr('two\nlines\n')
    throw new Error('nothing to do')
  })
  await expect(act).rejects.toThrow('nothing to do')
  expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThan(2.3 * 1024 * 1024)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n').slice(-3)
  expect(lines.map((line) => line.replace(/^\d{4}-\S+Z /, ''))).toEqual(['two', 'lines', 'Ended: nothing to do'])
})
