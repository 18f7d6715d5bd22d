import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { WriteLock } from '../../src/storage/sqlite/write-lock.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { logLines } from '../support/log-lines.ts'

function open() {
  const directory = dataDirectory()
  const path = `${directory.path}/test.db`
  const writer = new Sqlite(path)
  writer.exec('pragma journal_mode = wal; create table note (id integer primary key)')
  const other = new Sqlite(path)
  const clock = new FakeClock()
  const { log, lines } = logLines()
  const lock = new WriteLock(writer, log, clock)
  return {
    lines,
    lock,
    writer,
    other,
    /** Lets time pass in the steps in which the writer asks for the lock. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 20) {
        await new Promise(setImmediate)
        clock.advance(20)
      }
      await new Promise(setImmediate)
    },
    [Symbol.dispose]() {
      other.close()
      writer.close()
      directory[Symbol.dispose]()
    },
  }
}

test('a writer waits for another program that has locked the store, and reads go on meanwhile', async () => {
  using store = open()
  store.other.exec('BEGIN EXCLUSIVE')
  let hasBegun = false
  const beginning = store.lock.begin().then(() => {
    hasBegun = true
  })
  await store.pass(4_900)
  expect(store.writer.prepare('select * from note').all()).toEqual([])
  expect(hasBegun).toBe(false)
  store.other.exec('ROLLBACK')
  await store.pass(20)
  await beginning
  expect(store.writer.inTransaction).toBe(true)
  store.lock.rollBack()
  expect([store.writer.inTransaction, store.lines]).toEqual([false, []])
})

test('after five seconds writers are refused at once, with one line in the log, and served when the lock is free', async () => {
  using store = open()
  const locked = { code: 'SQLITE_BUSY' }
  store.other.exec('BEGIN EXCLUSIVE')
  const first = expect(store.lock.begin()).rejects.toMatchObject(locked)
  await store.pass(5_000)
  await first
  await expect(store.lock.begin()).rejects.toMatchObject(locked)
  store.other.exec('ROLLBACK')
  for (const _ of ['once', 'again']) {
    await store.lock.begin()
    store.lock.rollBack()
  }
  const remedy = expect.stringContaining('end that program')
  expect(store.lines).toEqual([
    { level: 'error', event: 'store.locked', file: store.other.name, remedy },
    { level: 'info', event: 'store.unlocked' },
  ])
})
