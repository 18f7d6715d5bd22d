import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Problem } from '../../src/errors.ts'
import type { Transaction } from '../../src/storage/database.ts'
import { pipelined } from '../../src/storage/pipelined.ts'
import { Connection } from '../../src/storage/sqlite/connection.ts'
import { GroupCommit } from '../../src/storage/sqlite/group-commit.ts'
import { WalFile } from '../../src/storage/sqlite/sqlite-database.ts'
import { p, sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'

const insert = statement<{ id: number }>(sql`insert into note (id) values (${p('id')})`)
const all = statement<object, { id: number }>(sql`select id from note order by id`)
const moveUp = statement<{ id: number }, { id: number }>(
  sql`update note set id = id + 100 where id = ${p('id')} returning id`,
)
const bulky = statement<object>(sql`insert into bulk (body) values (randomblob(200000))`)

let directory: ReturnType<typeof dataDirectory>
let writer: Connection
let reader: Connection
let wal: WalFile
let commits: GroupCommit
let clock: FakeClock

beforeEach(() => {
  directory = dataDirectory()
  writer = new Connection(`${directory.path}/test.db`, { readonly: false })
  writer.raw.exec('create table note (id integer primary key); create table bulk (body blob)')
  reader = new Connection(`${directory.path}/test.db`, { readonly: true })
  clock = new FakeClock()
  wal = new WalFile(`${directory.path}/test.db`)
  countCommits()
  commits = new GroupCommit(writer, wal, clock)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await commits.close()
  wal.close()
  reader.close()
  writer.close()
  directory[Symbol.dispose]()
})

const ids = () => reader.all(all, {}).map(({ id }) => id)
let commitCount = 0
function countCommits(): void {
  commitCount = 0
  const control = writer.control.bind(writer)
  vi.spyOn(writer, 'control').mockImplementation((text) => {
    const run = control(text)
    if (text !== 'COMMIT') return run
    return () => {
      commitCount++
      run()
    }
  })
}

test('a hundred writers that arrive together share one commit', async () => {
  await Promise.all(Array.from({ length: 100 }, (_, id) => commits.transaction((tx) => tx.run(insert, { id }))))
  expect(commitCount).toBe(1)
  expect(ids()).toHaveLength(100)
})

test('a group is bounded, so that the first of a thousand does not wait for the last', async () => {
  await Promise.all(Array.from({ length: 1000 }, (_, id) => commits.transaction((tx) => tx.run(insert, { id }))))
  expect(commitCount).toBe(2)
})

test('a writer that throws rolls back only its own writes', async () => {
  const failure = new Problem('forbidden')
  const outcomes = await Promise.allSettled(
    [1, 2, 3, 4, 5].map((id) =>
      commits.transaction(async (tx) => {
        await tx.run(insert, { id })
        if (id === 3) throw failure
        return id
      }),
    ),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(outcomes[2]).toMatchObject({ reason: failure })
  expect(ids()).toEqual([1, 2, 4, 5])
})

test('a writer that fails before it has changed anything costs the others no second run', async () => {
  const ran: number[] = []
  const writing = [1, 2, 3].map((id) =>
    commits.transaction(async (tx) => {
      ran.push(id)
      await tx.all(all, {})
      if (id === 2) throw new Problem('forbidden')
      await tx.run(insert, { id })
    }),
  )
  const outcomes = await Promise.allSettled(writing)
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(ran).toEqual([1, 2, 3])
  expect(ids()).toEqual([1, 3])
})

test('a writer that fails after a change makes its group run again; hooks and deferred work of the first run are discarded', async () => {
  const hooks: number[] = []
  const deferred: number[][] = []
  const closing = async (_tx: Transaction, items: readonly number[]) => {
    deferred.push([...items])
    return pipelined()
  }
  const writing = [1, 2, 3].map((id) =>
    commits.transaction(async (tx) => {
      tx.onCommit(() => hooks.push(id))
      tx.beforeCommit(closing, id)
      await tx.run(insert, { id })
      if (id === 2) throw new Problem('forbidden')
    }),
  )
  await Promise.allSettled(writing)
  expect(ids()).toEqual([1, 3])
  expect(hooks).toEqual([1, 3])
  expect(deferred).toEqual([[1, 3]])
})

test('after a writer has failed with a change, the next groups run only once, even if a writer of theirs fails too', async () => {
  const ran: number[] = []
  const write = (id: number, fails: boolean) =>
    commits.transaction(async (tx) => {
      ran.push(id)
      await tx.run(insert, { id })
      if (fails) throw new Problem('forbidden')
    })
  await Promise.allSettled([write(1, false), write(2, true)])
  expect(ran).toEqual([1, 2, 1, 2])
  await Promise.allSettled([write(3, false), write(4, true), write(5, false)])
  expect(ran.slice(4)).toEqual([3, 4, 5])
  expect(ids()).toEqual([1, 3, 5])
})

test('a row that a statement returned was changed: its writer fails, and the row is as it was', async () => {
  await commits.transaction((tx) => tx.run(insert, { id: 1 }))
  const outcomes = await Promise.allSettled([
    commits.transaction(async (tx) => {
      expect(await tx.get(moveUp, { id: 1 })).toEqual({ id: 101 })
      throw new Problem('forbidden')
    }),
    commits.transaction((tx) => tx.run(insert, { id: 2 })),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(ids()).toEqual([1, 2])
})

test('a constraint that fails is the error of its own writer', async () => {
  const [first, second] = await Promise.allSettled([
    commits.transaction((tx) => tx.run(insert, { id: 1 })),
    commits.transaction((tx) => tx.run(insert, { id: 1 })),
  ])
  expect(first.status).toBe('fulfilled')
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } })
})

test('hooks run after the commit, in order, and only for writers that succeeded', async () => {
  const ran: string[] = []
  const note = (name: string) => () => ran.push(`${name} sees ${ids().join()}`)
  await Promise.allSettled([
    commits.transaction(async (tx) => {
      tx.onCommit(note('first'))
      await tx.run(insert, { id: 1 })
    }),
    commits.transaction(async (tx) => {
      tx.onCommit(note('failed'))
      await tx.run(insert, { id: 2 })
      throw new Error('no')
    }),
    commits.transaction(async (tx) => {
      await tx.run(insert, { id: 3 })
      tx.onCommit(note('third'))
    }),
  ])
  expect(ran).toEqual(['first sees 1,3', 'third sees 1,3'])
})

test('a reader sees nothing of a group before its commit, and the writer sees its own rows', async () => {
  await commits.transaction(async (tx) => {
    await tx.run(insert, { id: 1 })
    expect(await tx.all(all, {})).toEqual([{ id: 1 }])
    expect(ids()).toEqual([])
    await new Promise(setImmediate)
    expect(ids()).toEqual([])
  })
  expect(ids()).toEqual([1])
})

test('a transaction has one time, however long it takes', async () => {
  await commits.transaction(async (tx) => {
    const before = tx.now
    clock.advance(5_000)
    expect(tx.now).toBe(before)
  })
})

test('close waits for queued writers and refuses later ones', async () => {
  const queued = Array.from({ length: 20 }, (_, id) => commits.transaction((tx) => tx.run(insert, { id })))
  const closing = commits.close()
  await expect(commits.transaction((tx) => tx.run(insert, { id: 99 }))).rejects.toMatchObject({
    code: 'storage-unavailable',
  })
  await closing
  await Promise.all(queued)
  expect(ids()).toHaveLength(20)
})

test('a full disk is storage-unavailable, stores nothing of that write, and ends when there is space again', async () => {
  const pages = writer.raw.pragma('page_count', { simple: true }) as number
  writer.raw.pragma(`max_page_count = ${pages + 10}`)
  await expect(commits.transaction((tx) => tx.run(bulky, {}))).rejects.toMatchObject({
    code: 'storage-unavailable',
    status: 503,
    message: expect.stringContaining('SQLITE_FULL'),
  })
  expect(writer.raw.inTransaction).toBe(false)
  const [small, large] = await Promise.allSettled([
    commits.transaction((tx) => tx.run(insert, { id: 1 })),
    commits.transaction((tx) => tx.run(bulky, {})),
  ])
  expect(large).toMatchObject({ status: 'rejected', reason: { code: 'storage-unavailable' } })
  writer.raw.pragma('max_page_count = 1000000')
  await commits.transaction((tx) => tx.run(bulky, {}))
  expect(ids()).toEqual(small.status === 'fulfilled' ? [1] : [])
})

test('a statement without one of its parameters is refused with the name of it', async () => {
  const incomplete = {} as { id: number }
  await expect(commits.transaction((tx) => tx.run(insert, incomplete))).rejects.toThrow(
    'The statement needs the parameter "id".',
  )
})

test('work that a writer did not wait for never reaches the store', async () => {
  let late: Promise<unknown> | undefined
  await commits.transaction(async (tx) => {
    late = new Promise(setImmediate).then(() => tx.run(insert, { id: 1 }))
    late.catch(() => {})
  })
  await expect(late).rejects.toThrow('was not awaited')
  expect(ids()).toEqual([])
})

/** A disk that takes its time: each flush ends when the test says so. */
class SlowDisk {
  readonly flushes: { done: () => void; fail: (error: Error) => void }[] = []

  flush(): Promise<void> {
    return new Promise((done, fail) => this.flushes.push({ done, fail }))
  }

  async reached(count: number): Promise<void> {
    await vi.waitUntil(() => this.flushes.length >= count, { interval: 1 })
  }
}

test('a commit is reported only when it is on the disk; writers that arrive meanwhile share the next one', async () => {
  const disk = new SlowDisk()
  const slow = new GroupCommit(writer, disk, clock)
  const heard: string[] = []
  const write = (id: number) =>
    slow
      .transaction(async (tx) => {
        tx.onCommit(() => heard.push(`hook ${id}`))
        await tx.run(insert, { id })
      })
      .then(() => heard.push(`answer ${id}`))
  const first = write(1)
  await disk.reached(1)
  expect(ids()).toEqual([1])
  expect(heard).toEqual([])
  const second = write(2)
  await new Promise(setImmediate)
  const third = write(3)
  await new Promise(setImmediate)
  expect(ids()).toEqual([1])
  disk.flushes[0]!.done()
  await first
  await disk.reached(2)
  expect(heard).toEqual(['hook 1', 'answer 1'])
  disk.flushes[1]!.done()
  await Promise.all([second, third])
  expect(heard.slice(2)).toEqual(['hook 2', 'hook 3', 'answer 2', 'answer 3'])
  expect(commitCount).toBe(2)
  await slow.close()
})

test('a disk that fails at once makes a commit fail, and everything after it', async () => {
  const flush = async (): Promise<void> => {
    throw Object.assign(new Error('i/o error'), { code: 'EIO' })
  }
  const failing = new GroupCommit(writer, { flush }, clock)
  for (const id of [1, 2, 3]) {
    const failed = failing.transaction((tx) => tx.run(insert, { id }))
    await expect(failed).rejects.toMatchObject({ code: 'storage-unavailable' })
  }
  await failing.close()
  expect(ids()).toEqual([1])
})

test('a disk that fails during a commit makes it fail, and everything after it', async () => {
  const disk = new SlowDisk()
  const failing = new GroupCommit(writer, disk, clock)
  const hook = vi.fn()
  const first = failing.transaction(async (tx) => {
    tx.onCommit(hook)
    await tx.run(insert, { id: 1 })
  })
  await disk.reached(1)
  const second = failing.transaction((tx) => tx.run(insert, { id: 2 }))
  disk.flushes[0]!.fail(Object.assign(new Error('i/o error'), { code: 'EIO' }))
  const uncertain = { code: 'storage-unavailable', message: expect.stringContaining('uncertain') }
  await expect(first).rejects.toMatchObject(uncertain)
  await expect(second).rejects.toMatchObject(uncertain)
  await expect(failing.transaction((tx) => tx.run(insert, { id: 3 }))).rejects.toMatchObject(uncertain)
  expect(hook).not.toHaveBeenCalled()
  expect(ids()).not.toContain(2)
  await failing.close()
})
