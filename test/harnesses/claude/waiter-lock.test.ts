import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localAddress, thisMachine } from '../../../src/bridge/local/address.ts'
import { takeLock } from '../../../src/harnesses/claude/adapter/inside/waiter.ts'
import { dataDirectory } from '../../support/data-directory.ts'

test('the notes of sessions that have ended are removed, and those of others stay', () => {
  using runtime = dataDirectory()
  const env = { XDG_RUNTIME_DIR: runtime.path, HOME: runtime.path }
  const directory = localAddress(env, thisMachine())!.directory!
  const { pid: ended } = spawnSync(process.execPath, ['--version'])
  takeLock(env, process.pid)
  for (const name of [`claude-${ended}.waits`, `claude-${ended}.waits.0123456789abcdef`, `claude-1.waits`]) {
    writeFileSync(join(directory, name), 'x')
  }
  const lock = takeLock(env, process.pid)
  expect(readdirSync(directory).sort()).toEqual(['claude-1.waits', `claude-${process.pid}.waits`].sort())
  lock?.release()
  expect(readdirSync(directory)).toEqual(['claude-1.waits'])
})
