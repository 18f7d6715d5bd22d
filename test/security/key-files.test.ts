import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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
