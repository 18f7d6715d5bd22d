import { expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { asCall as asAnyCall } from '../../src/storage/as-call.ts'
import type { Database, Transaction } from '../../src/storage/database.ts'
import { forUpdate, p, sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { openStore } from '../support/store.ts'

const insert = statement<{ id: string }>(sql`insert into project (id, created_at) values (${p('id')}, 0)`)
const locked = statement<object, { id: string }>(sql`select id from project ${forUpdate}`)

async function start() {
  const directory = dataDirectory()
  const db = await openStore(directory.path, systemClock)
  return {
    db,
    async [Symbol.asyncDispose]() {
      await db.close()
      directory[Symbol.dispose]()
    },
  }
}

/** A call that joins its transactions, which is followed on every engine. */
const asCall = <T>(db: Database, work: () => Promise<T>, join: (tx: Transaction) => Promise<void> = async () => {}) =>
  asAnyCall(db, work, join)
const put = (db: Database, id: string) => db.transaction((tx) => tx.run(insert, { id }))
const outage = () => new Problem('storage-unavailable', { detail: 'Nothing was stored; try again.' })
const fail = (): never => {
  throw outage()
}

test('what fails in a call after its first commit is uncertain; before it, it is as it is', async () => {
  await using store = await start()
  const { db } = store
  const uncertain = {
    code: 'storage-unavailable',
    extra: { uncertain: true },
    message: expect.stringContaining('This was stored'),
  }
  await expect(asCall(db, () => put(db, 'a').then(fail))).rejects.toMatchObject(uncertain)
  const before = { message: 'Nothing was stored; try again.', extra: {} }
  await expect(asCall(db, async () => fail())).rejects.toMatchObject(before)
  const looks = () => db.transaction((tx) => tx.all(locked, {}))
  await expect(asCall(db, () => looks().then(fail))).rejects.toMatchObject(before)
  const refused = new Problem('task-finished')
  await expect(asCall(db, () => put(db, 'b').then(() => Promise.reject(refused)))).rejects.toBe(refused)
})

test('calls that share a commit do not answer for each other, nor for what follows a commit', async () => {
  await using store = await start()
  const { db } = store
  const later: Promise<unknown>[] = []
  const writes = asCall(db, () =>
    db.transaction(async (tx) => {
      tx.onCommit(() => later.push(put(db, 'later')))
      await tx.run(insert, { id: 'a' })
    }),
  )
  const looks = asCall(db, async () => {
    await db.transaction((tx) => tx.all(locked, {}))
    await writes
    await Promise.all(later)
    fail()
  })
  await expect(looks).rejects.toMatchObject({ extra: {} })
})

test('a call joins each of its transactions that writes, and is rolled back with it', async () => {
  await using store = await start()
  const { db } = store
  let joined = 0
  const join = async (tx: Transaction): Promise<void> => void (await tx.run(insert, { id: `joined-${++joined}` }))
  await asCall(
    db,
    async () => {
      await put(db, 'a')
      await db.transaction((tx) => tx.all(locked, {}))
      await put(db, 'b')
    },
    join,
  )
  const broken = asCall(
    db,
    () => put(db, 'c'),
    async (tx) => {
      await join(tx)
      fail()
    },
  )
  await expect(broken).rejects.toMatchObject({ code: 'storage-unavailable' })
  const ids = (await db.all(locked, {})).map(({ id }) => id).sort()
  expect(ids).toEqual(['a', 'b', 'joined-1', 'joined-2'])
})
