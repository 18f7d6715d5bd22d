import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Connection } from '../../src/storage/sqlite/connection.ts'
import { GroupCommit } from '../../src/storage/sqlite/group-commit.ts'
import { WalFile } from '../../src/storage/sqlite/sqlite-database.ts'
import { p, sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'

const change = statement<{ body: Buffer }>(sql`update note set body = ${p('body')}`)
const add = statement<{ body: Buffer }>(sql`insert into note (body) values (${p('body')})`)
const pageBytes = 4_096

/** Sets the largest size of a file that this process writes, in bytes. A write beyond it fails, as it does on a full disk. */
const limitFiles = (bytes: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])

function openStore() {
  const directory = dataDirectory()
  const path = `${directory.path}/test.db`
  const writer = new Connection(path, { readonly: false })
  writer.raw.exec('create table note (body blob)')
  const wal = new WalFile(path)
  const clock = new FakeClock()
  const commits = new GroupCommit(writer, wal, clock)
  onTestFinished(async () => {
    limitFiles('unlimited')
    await commits.close()
    wal.close()
    writer.close()
    directory[Symbol.dispose]()
  })
  const checkpoints = vi.spyOn(writer.raw, 'pragma')
  const sizes = () => ({ store: statSync(path).size, wal: statSync(`${path}-wal`).size })
  const write = (text: typeof change, pages: number) =>
    commits.transaction((tx) => tx.run(text, { body: randomBytes(pages * pageBytes) }))
  return { write, sizes, clock, checkpoints: () => checkpoints.mock.calls.length }
}

// Such a limit is a matter of Linux.
const canLimit = spawnSync('prlimit', ['--version']).status === 0

test.runIf(canLimit)(
  'on a full disk the room of the write-ahead log is used again, and nobody is refused',
  async () => {
    const { write, sizes, checkpoints } = openStore()
    await write(add, 10)
    for (let i = 0; i < 10; i++) await write(change, 10)
    const full = sizes()
    limitFiles(full.wal)
    for (let i = 0; i < 8; i++) await write(change, 10)
    expect(sizes().wal).toBe(full.wal)
    expect(checkpoints()).toBe(1)
  },
)

test.runIf(canLimit)(
  'while the store cannot grow either, writes are refused, with one checkpoint a second',
  async () => {
    const { write, sizes, clock, checkpoints } = openStore()
    await write(add, 10)
    limitFiles(sizes().store)
    const refused = { code: 'storage-unavailable', message: expect.stringContaining('Free space on the disk') }
    for (let i = 0; i < 3; i++) await expect(write(add, 100)).rejects.toMatchObject(refused)
    expect(checkpoints()).toBe(1)
    await clock.advance(1_000)
    await expect(write(add, 100)).rejects.toMatchObject(refused)
    expect(checkpoints()).toBe(2)
    limitFiles('unlimited')
    expect(await write(add, 100)).toBe(1)
    expect(await write(change, 1)).toBe(2)
  },
)
