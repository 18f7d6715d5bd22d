import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { secretVariables } from '../../src/client/secret-files.ts'
import { settingList } from '../../src/config/settings.ts'
import { dataDirectory } from '../support/data-directory.ts'

const unit = readFileSync(new URL('../../deploy/rouse.service', import.meta.url), 'utf8')
const lines = unit.split('\n').filter((line) => /^\w+=/.test(line))
const valuesOf = (name: string) =>
  lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1))
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test('the unit starts the gateway on its state directory, as a user of its own', () => {
  expect(valuesOf('ExecStart')).toEqual(['/usr/local/bin/rouse serve'])
  expect(valuesOf('User')).toEqual(['rouse'])
  expect(valuesOf('StateDirectory')).toEqual(['rouse'])
  expect(valuesOf('StateDirectoryMode')).toEqual(['0700'])
  expect(valuesOf('Environment')).toContain('ROUSE_DATA_DIR=/var/lib/rouse')
})

test('every variable that it names is a setting, and no secret is in it', () => {
  const settings: readonly string[] = settingList.flatMap(({ name, isSecret }) =>
    isSecret ? [name, `${name}_FILE`] : [name],
  )
  const named = [...unit.matchAll(/\b(ROUSE_[A-Z_]+)\b/g)].map(([name]) => name)
  expect(named.filter((name) => !settings.includes(name))).toEqual([])
  expect(named.filter((name) => (secretVariables as readonly string[]).includes(name))).toEqual([])
})

test('a stop has as long as the gateway may need, and V8 may compile', () => {
  expect(valuesOf('TimeoutStopSec')).toEqual(['45'])
  expect(valuesOf('MemoryDenyWriteExecute')).toEqual([])
})

test.runIf(hasSystemd)('systemd accepts it, and rates its exposure as low', () => {
  using directory = dataDirectory()
  const path = join(directory.path, 'rouse.service')
  // On the machine of the test there is no such user and no such command.
  const local = unit
    .replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`)
    .replace(/^(User|Group)=.*$/gm, '$1=daemon')
  writeFileSync(path, local)
  const verified = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
  expect(verified.stderr.split('\n').filter((line) => line.includes(path))).toEqual([])
  const rated = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=25', '--no-pager', path], {
    encoding: 'utf8',
  })
  if (/Unknown|unrecognized/.test(rated.stderr)) return
  expect(rated.status, rated.stdout.split('\n').at(-2)).toBe(0)
})
