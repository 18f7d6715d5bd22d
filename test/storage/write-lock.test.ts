import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { SqliteDatabase } from '../../src/storage/sqlite/sqlite-database.ts'
import { p, sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { logLines } from '../support/log-lines.ts'

const insert = statement<{ id: string; now: number }>(
  sql`insert into project (id, created_at) values (${p('id')}, ${p('now')})`,
)
const projects = statement<object, { id: string }>(sql`select id from project order by id`)

function open() {
  const directory = dataDirectory()
  const clock = new FakeClock()
  const { log, lines } = logLines()
  const db = SqliteDatabase.open(directory.path, clock, log)
  const other = new Sqlite(`${directory.path}/rouse.db`)
  const put = (id: string) => db.transaction((tx) => tx.run(insert, { id, now: tx.now }))
  return {
    db,
    other,
    lines,
    put,
    /** Lets time pass in the steps in which the writer asks for the lock. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 20) {
        await new Promise(setImmediate)
        clock.advance(20)
      }
      await new Promise(setImmediate)
    },
    async [Symbol.asyncDispose]() {
      other.close()
      await db.close()
      directory[Symbol.dispose]()
    },
  }
}

test('a writer waits for another program that has locked the store, and reads go on meanwhile', async () => {
  await using store = open()
  store.other.exec('BEGIN EXCLUSIVE')
  let isWritten = false
  const writing = store.put('a').then(() => {
    isWritten = true
  })
  await store.pass(4_000)
  expect(await store.db.all(projects, {})).toEqual([])
  expect(isWritten).toBe(false)
  store.other.exec('ROLLBACK')
  await store.pass(20)
  await writing
  expect(await store.db.all(projects, {})).toEqual([{ id: 'a' }])
  expect(store.lines).toEqual([])
})

test('after five seconds writers are refused at once, with one line in the log, and served when the lock is free', async () => {
  await using store = open()
  const refused = { code: 'storage-unavailable', message: expect.stringContaining('Another program holds a lock') }
  store.other.exec('BEGIN EXCLUSIVE')
  const [first, second] = [store.put('a'), store.put('b')].map((put) => expect(put).rejects.toMatchObject(refused))
  await store.pass(5_000)
  await Promise.all([first, second])
  await expect(store.put('c')).rejects.toMatchObject(refused)
  store.other.exec('ROLLBACK')
  await store.put('d')
  await store.put('e')
  expect(await store.db.all(projects, {})).toEqual([{ id: 'd' }, { id: 'e' }])
  expect(store.lines).toEqual([
    {
      level: 'error',
      event: 'store.locked',
      file: store.other.name,
      remedy: expect.stringContaining('end that program'),
    },
    { level: 'info', event: 'store.unlocked' },
  ])
})
