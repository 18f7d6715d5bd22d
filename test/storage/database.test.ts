import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { Collision, type Database, type Transaction } from '../../src/storage/database.ts'
import { lockingStatement, p, sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openStore } from '../support/store.ts'

// The promises of every engine, checked on the engine of the run.

const insert = statement<{ id: string }>(sql`insert into project (id, created_at) values (${p('id')}, 0)`)
const insertNow = statement<{ id: string; now: number }>(
  sql`insert into project (id, created_at) values (${p('id')}, ${p('now')})`,
)
const insertOnce = statement<{ id: string }>(
  sql`insert into project (id, created_at) values (${p('id')}, 0) on conflict (id) do nothing`,
)
const all = statement<object, { id: string }>(sql`select id from project order by id`)
const one = statement<{ id: string }, { id: string; head: number; createdAt: number }>(
  sql`select id, log_head as "head", created_at as "createdAt" from project where id = ${p('id')}`,
)
const lock = lockingStatement<{ id: string }, { head: number }>(
  'project',
  sql`select log_head as "head" from project where id = ${p('id')}`,
)
const setHead = statement<{ id: string; head: number }>(
  sql`update project set log_head = ${p('head')} where id = ${p('id')}`,
)
const setHeadFrom = statement<{ id: string; head: number }>(
  sql`update project set log_head = ${p('head')} + 1 where id = ${p('id')} and log_head = ${p('head')}`,
)
const addHead = statement<{ id: string }, { head: number }>(
  sql`update project set log_head = log_head + 1 where id = ${p('id')} returning log_head as "head"`,
)

let directory: ReturnType<typeof dataDirectory>
let clock: FakeClock
let db: Database

beforeEach(async () => {
  directory = dataDirectory()
  clock = new FakeClock()
  db = await openStore(directory.path, clock)
})
afterEach(async () => {
  await db.close()
  directory[Symbol.dispose]()
})

const ids = async () => (await db.all(all, {})).map(({ id }) => id)
const name = (n: number) => `p${String(n).padStart(4, '0')}`
const range = (count: number) => Array.from({ length: count }, (_, n) => n)

test('a thousand concurrent writers are all committed, and each gets its own result', async () => {
  const changed = await Promise.all(
    range(1000).map((n) => db.transaction(async (tx) => [n, await tx.run(insert, { id: name(n) })])),
  )
  expect(changed).toEqual(range(1000).map((n) => [n, 1]))
  expect(await ids()).toEqual(range(1000).map(name))
})

test('a writer that throws rolls back only its own writes', async () => {
  const failure = new Problem('forbidden')
  const outcomes = await Promise.allSettled(
    range(5).map((n) =>
      db.transaction(async (tx) => {
        await tx.run(insert, { id: name(n) })
        if (n === 3) throw failure
        return n
      }),
    ),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(outcomes[3]).toMatchObject({ reason: failure })
  expect(await ids()).toEqual([0, 1, 2, 4].map(name))
})

test('in any mixture of writers, those that throw write nothing and the others everything', async () => {
  const deed = fc.constantFrom('write', 'throw', 'write and throw', 'read', 'same key')
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 20 }), async (deeds) => {
      const prefix = `r${++round}-`
      const outcomes = await Promise.allSettled(
        deeds.map((what, n) =>
          db.transaction(async (tx) => {
            if (what === 'same key') await tx.run(insert, { id: `${prefix}same` })
            if (what.startsWith('write')) await tx.run(insert, { id: prefix + n })
            if (what === 'read') await tx.all(all, {})
            if (what.endsWith('throw')) throw new Problem('forbidden')
            return n
          }),
        ),
      )
      const isKept = (what: string, n: number) => outcomes[n]!.status === 'fulfilled' && what !== 'read'
      const expected = deeds.flatMap((what, n) =>
        isKept(what, n) ? [what === 'same key' ? `${prefix}same` : prefix + n] : [],
      )
      expect((await ids()).filter((id) => id.startsWith(prefix))).toEqual(expected.sort())
      const fails = deeds.filter((what) => what.endsWith('throw')).length
      const same = deeds.filter((what) => what === 'same key').length
      expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(fails + Math.max(0, same - 1))
    }),
    { numRuns: 25 },
  )
})

test('a duplicate key is the error of its own writer', async () => {
  const outcomes = await Promise.allSettled(range(20).map(() => db.transaction((tx) => tx.run(insert, { id: 'same' }))))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const counts = await Promise.all(range(20).map(() => db.transaction((tx) => tx.run(insertOnce, { id: 'once' }))))
  expect(counts.reduce((sum, count) => sum + count)).toBe(1)
  expect(await ids()).toEqual(['once', 'same'])
})

test('hooks run once after the commit, in order, and only for writers that succeeded', async () => {
  const ran: string[] = []
  const write = (id: string, fails = false) =>
    db.transaction(async (tx) => {
      tx.onCommit(() => ran.push(id))
      await tx.run(insert, { id })
      if (fails) throw new Error('no')
    })
  const settled = await Promise.allSettled([write('a'), write('b', true), write('c')])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(ran).toEqual(['a', 'c'])
})

test('a writer sees its own rows, and a reader nothing of them before the commit', async () => {
  await db.transaction(async (tx) => {
    await tx.run(insert, { id: 'a' })
    expect(await tx.all(all, {})).toEqual([{ id: 'a' }])
  })
  const seen: string[][] = []
  await db
    .transaction(async (tx) => {
      await tx.run(insert, { id: 'b' })
      seen.push(await ids())
      throw new Error('no')
    })
    .catch(() => {})
  expect(seen.every((names) => names.join() === 'a')).toBe(true)
  expect(await ids()).toEqual(['a'])
})

test('a write is visible to readers when its writer resolves', async () => {
  await Promise.all(
    range(50).map(async (n) => {
      await db.transaction((tx) => tx.run(insert, { id: name(n) }))
      expect(await db.get(one, { id: name(n) })).toMatchObject({ id: name(n) })
    }),
  )
})

test('a transaction has one time, however long it takes', async () => {
  await db.transaction(async (tx) => {
    const before = tx.now
    await tx.run(insertNow, { id: 'a', now: before })
    clock.advance(5_000)
    expect(tx.now).toBe(before)
  })
  expect((await db.get(one, { id: 'a' }))!.createdAt).toBe(clock.now() - 5_000)
})

test('numbers up to 2^53, empty texts, every script and null are read as they were written', async () => {
  const id = `"'\\ ü 漢字 😀 $1 \n\t`
  await db.transaction((tx) => tx.run(insertNow, { id, now: Number.MAX_SAFE_INTEGER }))
  expect(await db.get(one, { id })).toEqual({ id, head: 0, createdAt: Number.MAX_SAFE_INTEGER })
  const nothing = statement<{ text: string | null }, { text: string | null; truth: number; sum: number }>(
    sql`select cast(${p('text')} as text) as "text", exists (select 1 from project) as "truth", sum(log_head) as "sum" from project`,
  )
  expect(await db.get(nothing, { text: null })).toEqual({ text: null, truth: 1, sum: 0 })
  expect(await db.get(nothing, { text: '' })).toEqual({ text: '', truth: 1, sum: 0 })
})

test('texts are ordered by their bytes', async () => {
  const names = ['a', 'B', '_', 'é', 'z', '@', 'Z', '漢', '😀', 'a-b', 'ab']
  await db.transaction(async (tx) => {
    for (const id of names) await tx.run(insert, { id })
  })
  expect(await ids()).toEqual([...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
})

test('a hundred writers that read a row with a lock and update it lose no update', async () => {
  await db.transaction((tx) => tx.run(insert, { id: 'a' }))
  await Promise.all(range(100).map(() => db.transaction((tx) => count(tx, 'a'))))
  expect((await db.get(one, { id: 'a' }))!.head).toBe(100)
})

test('a writer that locks two rows in the wrong order is run again, not blocked', async () => {
  for (const id of ['a', 'b']) await db.transaction((tx) => tx.run(insert, { id }))
  const both = (first: string, second: string) =>
    db.transaction(async (tx) => {
      await count(tx, first)
      await count(tx, second)
    })
  await Promise.all(range(10).map((n) => (n % 2 ? both('a', 'b') : both('b', 'a'))))
  expect((await db.get(one, { id: 'a' }))!.head).toBe(10)
  expect((await db.get(one, { id: 'b' }))!.head).toBe(10)
})

test('work that throws a Collision is run again, and its first try leaves nothing', async () => {
  await db.transaction((tx) => tx.run(insert, { id: 'a' }))
  await Promise.all(
    range(3).map((n) =>
      db.transaction(async (tx) => {
        const { head } = (await tx.get(one, { id: 'a' }))!
        await tx.run(insertOnce, { id: `${n} saw ${head}` })
        if ((await tx.run(setHeadFrom, { id: 'a', head })) === 0) throw new Collision('somebody was faster')
      }),
    ),
  )
  expect((await db.get(one, { id: 'a' }))!.head).toBe(3)
  expect((await ids()).filter((id) => id.includes('saw'))).toHaveLength(3)
})

test('a returning statement counts as a write: a writer that throws after it is rolled back', async () => {
  await db.transaction((tx) => tx.run(insert, { id: 'a' }))
  const outcomes = await Promise.allSettled(
    range(4).map((n) =>
      db.transaction(async (tx) => {
        await tx.get(addHead, { id: 'a' })
        if (n % 2) throw new Problem('forbidden')
      }),
    ),
  )
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(2)
  expect((await db.get(one, { id: 'a' }))!.head).toBe(2)
})

test('close waits for queued writers and refuses later ones', async () => {
  const queued = range(20).map((n) => db.transaction((tx) => tx.run(insert, { id: name(n) })))
  const closing = Promise.all([db.close(), db.close()])
  const refused = { code: 'storage-unavailable', message: 'The store is closed.' }
  await expect(db.transaction((tx) => tx.run(insert, { id: 'late' }))).rejects.toMatchObject(refused)
  await Promise.all([closing, ...queued])
  await expect(db.all(all, {})).rejects.toMatchObject(refused)
  await expect(db.get(all, {})).rejects.toMatchObject(refused)
  db = await openStore(directory.path, clock)
  expect(await ids()).toHaveLength(20)
})

test('a statement without one of its parameters is refused with the name of it', async () => {
  const incomplete = {} as { id: string }
  const missing = 'The statement needs the parameter "id".'
  await expect(db.transaction((tx) => tx.run(insert, incomplete))).rejects.toThrow(missing)
  await expect(db.get(one, incomplete)).rejects.toThrow(missing)
})

// better-sqlite3 takes a list for several values and an object for named ones; pg takes both for text.
test.each([[[]], [['a']], [{}]])('a parameter that is no value of SQL is refused with its name: %j', async (id) => {
  const odd = { id } as unknown as { id: string }
  const refusal = 'The parameter "id" of the statement is an object.'
  await expect(db.transaction((tx) => tx.run(insert, odd))).rejects.toThrow(refusal)
  await expect(db.get(one, odd)).rejects.toThrow(refusal)
})

test('work that a writer did not wait for never reaches the store', async () => {
  let late: Promise<unknown> | undefined
  await db.transaction(async (tx) => {
    late = new Promise((resolve) => setTimeout(resolve, 20)).then(() => tx.run(insert, { id: 'late' }))
    late.catch(() => {})
  })
  await expect(late).rejects.toThrow('was not awaited')
  expect(await ids()).toEqual([])
})

async function count(tx: Transaction, id: string): Promise<void> {
  const { head } = (await tx.get(lock, { id }))!
  await tx.run(setHead, { id, head: head + 1 })
}
