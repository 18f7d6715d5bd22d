import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CheckpointThread } from '../../src/storage/sqlite/checkpoints/checkpoint-thread.ts'
import { Checkpoints } from '../../src/storage/sqlite/checkpoints/checkpoints.ts'
import { startThread } from '../../src/storage/sqlite/checkpoints/start-thread.ts'
import { Connection } from '../../src/storage/sqlite/connection.ts'
import { GroupCommit } from '../../src/storage/sqlite/group-commit.ts'
import { WalFile } from '../../src/storage/sqlite/sqlite-database.ts'
import { p, sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { until } from '../support/until.ts'

const writeNote = statement<{ id: number; body: Buffer }>(
  sql`insert into note (id, body) values (${p('id')}, ${p('body')}) on conflict (id) do update set body = excluded.body`,
)
const pageBytes = 4_096
const pagesOfNote = 10

/** At this size of the log, in pages, the writer's own connection makes a checkpoint. */
const ownAt = 16_000

/** More than what makes a checkpoint due. */
const enough = 7_000

function openStore(start = startThread) {
  const directory = dataDirectory()
  const path = `${directory.path}/test.db`
  const writer = new Connection(path, { readonly: false })
  writer.raw.exec('create table note (id integer primary key, body blob)')
  const wal = new WalFile(path)
  const clock = new FakeClock()
  const thread = new CheckpointThread(path, start)
  const asked = vi.spyOn(thread, 'checkpoint')
  const checkpoints = new Checkpoints(writer, clock, thread)
  const commits = new GroupCommit(writer, wal, clock, checkpoints)
  onTestFinished(async () => {
    await commits.close()
    await checkpoints.close()
    wal.close()
    writer.close()
    checkpoints.closeFile()
    directory[Symbol.dispose]()
  })
  const notes = new Map<number, Buffer>()
  const write = async (id: number) => {
    const body = randomBytes(pagesOfNote * pageBytes)
    await commits.transaction((tx) => tx.run(writeNote, { id, body }))
    notes.set(id, body)
  }
  return {
    path,
    clock,
    checkpoints,
    write,
    /** Ten writers at the same time, each with a note of its own. */
    async writePages(pages: number) {
      const writer = async (_: unknown, id: number) => {
        for (let written = 0; written < pages / 10; written += pagesOfNote) await write(id)
      }
      await Promise.all(Array.from({ length: 10 }, writer))
    },
    asked: () => asked.mock.calls.length,
    logPages: () => Math.floor(statSync(`${path}-wal`).size / pageBytes),
    /** Another connection finds a whole store with every note as it was written last. */
    expectWhole() {
      const reader = new Sqlite(path, { readonly: true })
      onTestFinished(() => void reader.close())
      expect(reader.pragma('integrity_check', { simple: true })).toBe('ok')
      const stored = reader.prepare('select id, body from note order by id').raw().all() as [number, Buffer][]
      expect(stored.length).toBe(notes.size)
      for (const [id, body] of stored) expect(body.equals(notes.get(id)!)).toBe(true)
    },
  }
}

test('the log begins again before the main thread has to make a checkpoint', async () => {
  const { writePages, checkpoints, asked, logPages, expectWhole } = openStore()
  for (let i = 0; i < 8; i++) {
    await writePages(enough)
    // These writers do not leave the thread the time that those of a gateway do.
    await checkpoints.settled()
  }
  expect(asked()).toBeGreaterThanOrEqual(8)
  expect(logPages()).toBeLessThan(ownAt)
  expectWhole()
})

test('a thread that is killed, at any moment, is started again, and nothing is lost', async () => {
  let started = 0
  const killsAt: (() => unknown)[] = []
  const { writePages, write, expectWhole } = openStore((data) => {
    started++
    const worker = startThread(data)
    // A little later each time: before it has started, while it opens the store, in a checkpoint.
    if (started <= 6) killsAt[20 * started * started] = () => worker.terminate()
    return worker
  })
  for (let writes = 0; started <= 6 && writes < 50 * enough; writes++) {
    await write(writes % 10)
    killsAt.shift()?.()
  }
  expect(started).toBe(7)
  await writePages(enough)
  expectWhole()
})

test('without a thread the main thread makes the checkpoints', async () => {
  const { writePages, asked, logPages, expectWhole } = openStore(() => {
    throw new Error('The system has no thread left.')
  })
  await writePages(ownAt + 4 * enough)
  expect(asked()).toBeGreaterThanOrEqual(2)
  expect(logPages()).toBeLessThan(ownAt + enough)
  expectWhole()
})

test('writers wait for the last checkpoint a tenth of a second at most, and once', async () => {
  // It answers four checkpoints, each of which leaves much, and not the fifth, which is the last.
  const script = `let made = 0
    const { parentPort } = require('node:worker_threads')
    parentPort.on('message', () => ++made < 5 && parentPort.postMessage({ pages: 5_000, moved: 0 }))`
  const { write, asked, clock, expectWhole } = openStore(() => new Worker(script, { eval: true }))
  let isWritten = false
  const writing = (async () => {
    while (asked() < 5) await write(0)
    isWritten = true
  })()
  await until(asked, (times) => times === 5)
  await clock.advance(99)
  expect(isWritten).toBe(false)
  await clock.advance(1)
  await writing
  await write(1)
  expectWhole()
})

test('a process that reads all the time does not make every write ask for a checkpoint', async () => {
  const { writePages, write, path, asked, logPages } = openStore()
  await write(0)
  const reader = new Sqlite(path, { readonly: true })
  onTestFinished(() => void reader.close())
  reader.exec('begin')
  reader.prepare('select count(*) from note').get()
  await writePages(2 * enough)
  expect(logPages()).toBeGreaterThan(2 * enough)
  expect(asked()).toBeLessThan(12)
  reader.exec('commit')
  await writePages(2 * enough)
  expect(logPages()).toBeLessThan(ownAt + enough)
})
