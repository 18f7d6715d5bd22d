import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Logger } from '../../src/logger/logger.ts'
import { judgePrivacy } from '../../src/security/private-files.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'

const mode = (path: string): number => statSync(path).mode & 0o777

test.each([
  ['directory', 0o700, 1000, 'private'],
  ['directory', 0o755, 1000, 'private'],
  ['directory', 0o775, 1000, 'open'],
  ['directory', 0o1777, 0, 'open'],
  ['directory', 0o700, 1001, 'foreign'],
  ['directory', 0o770, 0, 'private'],
  ['secret', 0o600, 1000, 'private'],
  ['secret', 0o400, 0, 'private'],
  ['secret', 0o640, 1000, 'close'],
  ['secret', 0o640, 0, 'private'],
  ['secret', 0o644, 1000, 'open'],
  ['secret', 0o644, 0, 'open'],
  ['secret', 0o600, 1001, 'foreign'],
  ['store', 0o644, 1000, 'close'],
  ['store', 0o644, 0, 'open'],
] as const)('a %s with mode %o of uid %i is %s for uid 1000', (kind, bits, uid, verdict) => {
  expect(judgePrivacy(kind, { mode: bits, uid }, 1000)).toBe(verdict)
})

test('a gateway restricts a store that others could read, and logs it', async () => {
  using directory = dataDirectory()
  await (await startGateway({ dataDir: directory.path })).stop()
  const store = join(directory.path, 'rouse.db')
  // As a copy by `sqlite3 .backup` is left.
  chmodSync(store, 0o644)
  const logged: object[] = []
  const log: Logger = { debug() {}, info() {}, warn: (fields) => void logged.push(fields), error() {} }
  await using _gateway = await startGateway({ dataDir: directory.path, overrides: { log } })
  expect(mode(store)).toBe(0o600)
  expect(logged).toEqual([{ path: store, mode: '0644' }])
})

test.each(['admin.key', 'encryption.key', 'card-signing.jwk', 'instance.key'])(
  'a gateway does not start with an %s that other users can read, and names the remedy',
  async (name) => {
    using directory = dataDirectory()
    await (await startGateway({ dataDir: directory.path })).stop()
    const path = join(directory.path, name)
    chmodSync(path, 0o644)
    await expect(startGateway({ dataDir: directory.path })).rejects.toThrow(`chmod 600 ${path}`)
    chmodSync(path, 0o600)
    await (await startGateway({ dataDir: directory.path })).stop()
  },
)

test('a gateway does not start in a directory where other users could write a key, and does not change it', async () => {
  using directory = dataDirectory()
  chmodSync(directory.path, 0o777)
  await expect(startGateway({ dataDir: directory.path })).rejects.toThrow(`chmod go-w ${directory.path}`)
  expect(mode(directory.path)).toBe(0o777)
})

test('a directory that is not there yet is made for its owner alone', async () => {
  using directory = dataDirectory()
  const place = join(directory.path, 'new')
  await using _gateway = await startGateway({ dataDir: place })
  expect(mode(place)).toBe(0o700)
})

test('a key that its group can read is closed', async () => {
  using directory = dataDirectory()
  mkdirSync(join(directory.path, 'data'), { mode: 0o700 })
  const path = join(directory.path, 'data', 'admin.key')
  writeFileSync(path, 'rk_of_a_group\n', { mode: 0o640 })
  await using gateway = await startGateway({ dataDir: join(directory.path, 'data') })
  expect([gateway.adminKey, mode(path)]).toEqual(['rk_of_a_group', 0o600])
})
