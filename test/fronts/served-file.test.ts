import { rmSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { servedFile } from '../../src/fronts/http/served-file.ts'
import { dataDirectory } from '../support/data-directory.ts'

test('a file is read and hashed once, also for requests at the same time; a read that failed is tried again', async () => {
  using directory = dataDirectory()
  const path = `${directory.path}/page.html`
  const url = pathToFileURL(path)
  await expect(servedFile(url)).rejects.toThrow('ENOENT')
  writeFileSync(path, 'first')
  const [one, other] = await Promise.all([servedFile(url), servedFile(url)])
  expect(one.body.toString()).toBe('first')
  rmSync(path)
  expect([other, await servedFile(pathToFileURL(path))]).toEqual([one, one])
  expect(other).toBe(one)
})
