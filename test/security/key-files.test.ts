import { chownSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { KeyFile } from '../../src/security/key-files.ts'
import { dataDirectory } from '../support/data-directory.ts'

test('a key is made once, readable by its owner alone, and read from then on', async () => {
  using directory = dataDirectory()
  const place = join(directory.path, 'new', 'place')
  expect(await new KeyFile(place, 'a.key').load(() => 'one')).toBe('one')
  expect(await new KeyFile(place, 'a.key').load(() => 'two')).toBe('one')
  expect(readFileSync(join(place, 'a.key'), 'utf8')).toBe('one\n')
  expect(statSync(join(place, 'a.key')).mode & 0o777).toBe(0o600)
  expect(statSync(place).mode & 0o777).toBe(0o700)
  expect(readdirSync(place)).toEqual(['a.key'])
})

test('many that make a key at once end up with the same one', async () => {
  using directory = dataDirectory()
  let made = 0
  const create = async () => {
    await new Promise(setImmediate)
    return `key ${++made}`
  }
  const keys = await Promise.all(Array.from({ length: 20 }, () => new KeyFile(directory.path, 'a.key').load(create)))
  expect(new Set(keys).size).toBe(1)
  expect(readdirSync(directory.path)).toEqual(['a.key'])
})

test('a key that could not be written leaves no file', async () => {
  using directory = dataDirectory()
  const create = () => Promise.reject(new Error('no randomness'))
  await expect(new KeyFile(directory.path, 'a.key').load(create)).rejects.toThrow('no randomness')
  expect(readdirSync(directory.path)).toEqual([])
})

test('white space around a key in a file is ignored', async () => {
  using directory = dataDirectory()
  writeFileSync(join(directory.path, 'a.key'), '  mine \n')
  expect(await new KeyFile(directory.path, 'a.key').load(() => 'other')).toBe('mine')
})

/** A user that a gateway may run as, beside root. */
const nobody = 65_534

// Only root can give a file away: elsewhere the report shows these as skipped.
describe.skipIf(process.getuid?.() !== 0)('what root writes belongs to the user of the gateway (needs root)', () => {
  const owners = (path: string) => [statSync(path).uid, statSync(path).gid, statSync(path).mode & 0o777]

  test('a key keeps the owner of the file that it replaces', async () => {
    using directory = dataDirectory()
    const key = new KeyFile(directory.path, 'a.key')
    await key.load(() => 'one')
    expect(owners(key.path)).toEqual([0, 0, 0o600])
    chownSync(key.path, nobody, nobody)
    await key.replace('one', 'two')
    expect(owners(key.path)).toEqual([nobody, nobody, 0o600])
  })

  test('a new key has the owner of the store, else that of the directory', async () => {
    using directory = dataDirectory()
    chownSync(directory.path, nobody, nobody)
    const [first, second] = [new KeyFile(directory.path, 'a.key'), new KeyFile(directory.path, 'b.key')]
    await first.load(() => 'one')
    expect(owners(first.path)).toEqual([nobody, nobody, 0o600])
    // As root's own gateway has it in a directory of somebody else.
    writeFileSync(join(directory.path, 'rouse.db'), '')
    await second.load(() => 'two')
    expect(owners(second.path)).toEqual([0, 0, 0o600])
  })

  test('a key that root has kept from the gateway before goes to the owner of the store', async () => {
    using directory = dataDirectory()
    const key = new KeyFile(directory.path, 'a.key')
    await key.load(() => 'one')
    const store = join(directory.path, 'rouse.db')
    writeFileSync(store, '')
    chownSync(store, nobody, nobody)
    await key.replace('one', 'two')
    expect(owners(key.path)).toEqual([nobody, nobody, 0o600])
  })
})
