import { expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { AdminKey, type AdminKeys, givenAdminKeys, rotateAdminKey } from '../../src/security/admin-key.ts'
import { KeyFile } from '../../src/security/key-files.ts'
import { newApiKey } from '../../src/security/secret.ts'
import { dataDirectory } from '../support/data-directory.ts'

function kept(first: string) {
  let keys: AdminKeys = { current: first, former: [] }
  let reads = 0
  const read = async () => {
    reads++
    return keys
  }
  return {
    key: new AdminKey(keys, read, () => 1_000),
    replace(next: AdminKeys) {
      keys = next
    },
    reads: () => reads,
  }
}

test('the end of a key is logged once, also when a request notices it first', async () => {
  const [old, next] = [newApiKey(), newApiKey()]
  const { key, replace } = kept(old)
  expect(await key.refresh()).toBe(false)
  replace({ current: next, former: [] })
  expect(await key.matchesAnew(next)).toBe(true)
  expect(key.matches(old)).toBe(false)
  expect(await key.refresh()).toBe(true)
  expect(await key.refresh()).toBe(false)
})

test('a former key is accepted until its end, and the end is logged', async () => {
  const [old, next] = [newApiKey(), newApiKey()]
  let now = 1_000
  const keys = { current: next, former: [{ key: old, until: 2_000 }] }
  const key = new AdminKey(
    keys,
    async () => keys,
    () => now,
  )
  expect([key.matches(old), await key.refresh()]).toEqual([true, false])
  now = 2_000
  expect([key.matches(old), await key.refresh(), key.matches(next)]).toEqual([false, true, true])
})

test('a flood of wrong keys costs one read in each iteration of the event loop, and none if they do not look like keys', async () => {
  const { key, reads } = kept(newApiKey())
  const tries = await Promise.all(Array.from({ length: 200 }, () => key.matchesAnew(newApiKey())))
  expect([tries.includes(true), reads()]).toEqual([false, 1])
  await Promise.all(['', 'guess', 'rk_short', `rk_${'a'.repeat(44)}`].map((guess) => key.matchesAnew(guess)))
  expect(reads()).toBe(1)
})

test('keys that cannot be read match nothing, which is reported once until they can be read again', async () => {
  const [known, next] = [newApiKey(), newApiKey()]
  let fault: Error | undefined = new Error('sealed with another key')
  const reported: unknown[] = []
  const read = async (): Promise<AdminKeys> => {
    if (fault) throw fault
    return { current: known, former: [] }
  }
  const key = new AdminKey(
    { current: known, former: [] },
    read,
    () => 1_000,
    (error) => reported.push(error),
  )
  const first = fault
  expect([await key.matchesAnew(next), await key.matchesAnew(next), await key.matchesAnew(known)]).toEqual([
    false,
    false,
    true,
  ])
  expect(reported).toEqual([first])
  fault = undefined
  expect(await key.matchesAnew(next)).toBe(false)
  fault = new Error('again')
  expect(await key.matchesAnew(next)).toBe(false)
  expect(reported).toEqual([first, fault])
  // Nobody knows then whether the key is valid.
  fault = new Problem('storage-unavailable', { detail: 'The store is closed.' })
  await expect(key.matchesAnew(next)).rejects.toThrow(fault)
})

test('configured keys are accepted as long as they are listed', () => {
  const keys = givenAdminKeys(['new', 'old'])
  const key = new AdminKey(
    keys,
    async () => keys,
    () => Number.MAX_SAFE_INTEGER,
  )
  expect(['new', 'old', 'other', ''].map((one) => key.matches(one))).toEqual([true, true, false, false])
})

test('a key that another process has replaced meanwhile is not replaced again', async () => {
  using directory = dataDirectory()
  const file = (name: string) => new KeyFile(directory.path, name)
  const place = { current: file('admin.key'), former: file('admin.key.former') }
  await place.current.load(newApiKey)
  const other = newApiKey()
  const late = {
    ...place,
    former: {
      read: () => place.former.read(),
      load: async (make: () => string | Promise<string>) => {
        const before = (await place.current.read()) as string
        await place.current.replace(before, other)
        return place.former.load(make)
      },
      replace: async () => false,
    },
  }
  await expect(rotateAdminKey(late, { now: 0, overlapMs: 1 })).rejects.toThrow('Somebody else replaced the admin key')
  expect(await place.current.read()).toBe(other)
})
