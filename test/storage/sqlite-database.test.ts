import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { SqliteDatabase } from '../../src/storage/sqlite/sqlite-database.ts'
import { p, sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'

const insert = statement<{ id: string; now: number }>(
  sql`insert into project (id, created_at) values (${p('id')}, ${p('now')})`,
)
const projects = statement<object, { id: string }>(sql`select id from project order by id`)
const applied = statement<object, { version: number }>(sql`select version from schema_migration order by version`)

const open = (directory: string) => SqliteDatabase.open(directory, systemClock)

test('migrations are applied once, and data survives a restart', async () => {
  using directory = dataDirectory()
  const first = open(directory.path)
  const versions = await first.all(applied, {})
  await first.transaction((tx) => tx.run(insert, { id: 'kept', now: tx.now }))
  await first.close()
  await using second = open(directory.path)
  expect(await second.all(applied, {})).toEqual(versions)
  expect(versions[0]).toEqual({ version: 1 })
  expect(await second.all(projects, {})).toEqual([{ id: 'kept' }])
})

test('a read that begins while a transaction is open sees the last commit, and later ones the next', async () => {
  using directory = dataDirectory()
  await using db = open(directory.path)
  await db.transaction((tx) => tx.run(insert, { id: 'first', now: tx.now }))
  const before = await db.all(projects, {})
  const writing = db.transaction(async (tx) => {
    await tx.run(insert, { id: 'second', now: tx.now })
    return db.all(projects, {})
  })
  expect(await writing).toEqual(before)
  expect(await db.all(projects, {})).toEqual([...before, { id: 'second' }])
})

test('a second open in the same process is refused until the first is closed', async () => {
  using directory = dataDirectory()
  const first = open(directory.path)
  const refusal = `Another gateway is running on ${directory.path}`
  expect(() => open(directory.path)).toThrow(refusal)
  expect(() => open(directory.path)).toThrow(refusal)
  await first.close()
  await open(directory.path).close()
})

test('a second process is refused, and takes over when the first is killed', async () => {
  using directory = dataDirectory()
  const holder = spawnHolder(directory.path)
  try {
    expect(await firstLine(holder)).toBe('open')
    expect(() => open(directory.path)).toThrow('Another gateway is running')
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    await open(directory.path).close()
  } finally {
    holder.kill('SIGKILL')
  }
})

test("a refused second open does not free the first one's lock", async () => {
  using directory = dataDirectory()
  await using _first = open(directory.path)
  expect(() => open(directory.path)).toThrow('Another gateway is running')
  const other = spawnHolder(directory.path)
  try {
    expect(await firstLine(other)).toContain('Another gateway is running')
  } finally {
    other.kill('SIGKILL')
  }
})

test('only the owner may read the store', async () => {
  using directory = dataDirectory()
  await using db = open(directory.path)
  await db.transaction((tx) => tx.run(insert, { id: 'x', now: tx.now }))
  for (const name of ['rouse.db', 'rouse.db-wal', 'rouse.lock', 'rouse.lock-journal']) {
    expect((statSync(`${directory.path}/${name}`).mode & 0o777).toString(8)).toBe('600')
  }
})

test('a closed store refuses reads and writes with a problem, and closing twice is the same as once', async () => {
  using directory = dataDirectory()
  const db = open(directory.path)
  await Promise.all([db.close(), db.close()])
  const unavailable = { code: 'storage-unavailable' }
  await expect(db.all(projects, {})).rejects.toMatchObject(unavailable)
  await expect(db.get(projects, {})).rejects.toMatchObject(unavailable)
  await expect(db.transaction((tx) => tx.run(insert, { id: 'x', now: 0 }))).rejects.toMatchObject(unavailable)
})

test('a directory that cannot be made is not reported as another gateway', () => {
  expect(() => SqliteDatabase.open('/dev/null/rouse', systemClock)).toThrow(/ENOTDIR|ENOENT|not a directory/)
})

/** Another process that opens the store, says so, and stays. */
function spawnHolder(directory: string): ChildProcess {
  const script = `
    import { SqliteDatabase } from ${JSON.stringify(resolve('src/storage/sqlite/sqlite-database.ts'))}
    import { systemClock } from ${JSON.stringify(resolve('src/lib/clock.ts'))}
    // Kept: what is collected as garbage is closed, and its lock with it.
    try { globalThis.held = SqliteDatabase.open(${JSON.stringify(directory)}, systemClock); console.log('open') }
    catch (error) { console.log(error.message) }
    setInterval(() => {}, 1000)`
  return spawn('node', ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [chunk] = (await once(child.stdout!, 'data')) as [Buffer]
  return chunk.toString('utf8').split('\n')[0]!
}
