import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { socketFile } from '../../../src/harnesses/codex/adapter/access.ts'
import { atTestEnd } from '../../support/ends.ts'

const uid = process.getuid?.()

async function makeSocket(mode: number, folderMode = 0o700) {
  const root = mkdtempSync(join(process.env.ROUSE_TEST_SCRATCH ?? tmpdir(), 'socket-'))
  const folder = join(root, 'f')
  mkdirSync(folder)
  const path = join(folder, 's')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  chmodSync(path, mode)
  chmodSync(folder, folderMode)
  atTestEnd(async () => {
    await new Promise((resolve) => server.close(resolve))
    rmSync(root, { recursive: true })
  })
  return { root, path }
}

test('a socket of this user is used, through a symbolic link too', async () => {
  const { root, path } = await makeSocket(0o600)
  const link = join(root, 'link')
  symlinkSync(path, link)
  expect(socketFile(path, uid)).toEqual({ path })
  expect(socketFile(link, uid)).toEqual({ path })
})

test.each([
  [0o666, 0o700, 'other users may write to it'],
  [0o620, 0o700, 'other users may write to it'],
  [0o600, 0o777, 'other users may write to its directory'],
])('mode %o in a directory of mode %o is not used', async (mode, folderMode, reason) => {
  const { path } = await makeSocket(mode, folderMode)
  expect(socketFile(path, uid)).toEqual({ remark: expect.stringContaining(reason) })
})

test('a directory in which nobody can replace files of others is fine', async () => {
  const { path } = await makeSocket(0o600, 0o1777)
  expect(socketFile(path, uid)).toEqual({ path })
})

test('a socket of somebody else, a file, and a system without users are not used; where nothing is, is nothing', async () => {
  const { root, path } = await makeSocket(0o600)
  const file = join(root, 'file')
  writeFileSync(file, '')
  expect(socketFile(path, uid! + 1)).toEqual({ remark: expect.stringContaining('another user') })
  expect(socketFile(file, uid)).toEqual({ remark: expect.stringContaining('no socket') })
  expect(socketFile(path, undefined)).toEqual({ remark: expect.stringContaining('whose') })
  expect(socketFile(join(root, 'none'), uid)).toBeUndefined()
})
