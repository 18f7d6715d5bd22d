import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { lockLog } from '../../../src/log/event-store.ts'
import { ensureProject } from '../../../src/registry/projects/project-store.ts'
import type { PipelinedStatements, Transaction } from '../../../src/storage/database.ts'
import { LockingListStatement } from '../../../src/storage/list.ts'
import { pipelined } from '../../../src/storage/pipelined.ts'
import { PostgresDatabase } from '../../../src/storage/postgres/postgres-database.ts'
import { lockingStatement, p, sql, statement } from '../../../src/storage/statement.ts'
import { insertEvents } from '../../support/insert-events.ts'
import { databaseUrlFor, runSql } from '../../support/store.ts'
import { until } from '../../support/until.ts'

// Writers in a deadlock are run again. So a writer that ran once was in none.

const add = statement<{ id: string }>(sql`update item set count = count + 1 where id = ${p('id')}`)
const lock = lockingStatement<{ id: string }, { id: string }>('item', sql`select id from item where id = ${p('id')}`)
const lockAll = new LockingListStatement<{ id: string }>('item', sql`select id from item`)
const read = statement<object, { id: string; count: number }>(sql`select id, count from item order by id`)
const sleep = statement<object, object>(sql`select pg_sleep(0.3)`)
const items = ['a', 'b', 'c', 'd', 'e', 'f']

let url: string
let name: string
let gateways: PostgresDatabase[]
let watcher: pg.Client

beforeEach(async () => {
  name = randomBytes(8).toString('hex')
  url = (await databaseUrlFor(name)) as string
  const named = new URL(url)
  named.searchParams.set('application_name', name)
  gateways = await Promise.all([1, 2].map(() => PostgresDatabase.open(named.href, systemClock)))
  await ensureProject(gateways[0]!, 'north')
  await runSql(url, 'create table item (id text primary key, count integer not null)')
  for (const id of items) await runSql(url, 'insert into item values ($1, 0)', [id])
  watcher = new pg.Client(url)
  await watcher.connect()
})
afterEach(() => Promise.all([watcher.end(), ...gateways.map((db) => db.close())]))

const append = async (tx: Transaction, texts: readonly string[]): Promise<PipelinedStatements> => {
  const events = texts.map(
    (text) => ({ type: 'agent.updated', actor: '@donna', audience: [], data: { text } }) as const,
  )
  await insertEvents(tx, 'north', events)
  return pipelined()
}

/** A point that one writer reaches and another one waits for. */
function point(): { readonly reached: Promise<void>; reach(): void } {
  let reach = (): void => {}
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  return { reached, reach }
}

/** Counts how often work was run. */
function counted<T>(work: (tx: Transaction) => Promise<T>): ((tx: Transaction) => Promise<T>) & { runs(): number } {
  let runs = 0
  const run = (tx: Transaction): Promise<T> => {
    runs++
    return work(tx)
  }
  return Object.assign(run, { runs: () => runs })
}

const waitForRows = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = `

/**
 * Looks for a connection of the gateways that waits for a row. Gives up after a third of a second: then nobody waits. A group that
 * gets no lock within a second goes on without it.
 */
async function lookForWaits(): Promise<void> {
  const end = performance.now() + 300
  while (performance.now() < end) if ((await watcher.query(`${waitForRows}'${name}'`)).rows.length > 0) return
}

test('a group that locks the log early waits for no row of a group that locks it later', async () => {
  const [db] = gateways as [PostgresDatabase]
  const [hasRow, mayEnd] = [point(), point()]
  const first = counted(async (tx) => {
    await tx.run(add, { id: 'a' })
    hasRow.reach()
    await mayEnd.reached
    tx.beforeCommit(append, 'first')
  })
  const early = counted(async (tx) => {
    await lockLog(tx, 'north')
    tx.beforeCommit(append, 'early')
  })
  const mate = counted(async (tx) => {
    await tx.all(read, {})
    await tx.run(add, { id: 'a' })
  })
  const one = db.transaction(first)
  await hasRow.reached
  const others = [db.transaction(early), db.transaction(mate)]
  await lookForWaits()
  mayEnd.reach()
  await Promise.all([one, ...others])
  expect([first, early, mate].map(({ runs }) => runs())).toEqual([1, 1, 1])
  expect(await db.all(read, {})).toContainEqual({ id: 'a', count: 2 })
})

test('two groups that lock the same rows in opposite order do not wait for each other', async () => {
  const [db] = gateways as [PostgresDatabase]
  const [hasA, mayGoOn] = [point(), point()]
  const works = [
    counted(async (tx) => {
      await tx.run(add, { id: 'a' })
      hasA.reach()
    }),
    counted(async (tx) => {
      await mayGoOn.reached
      await tx.run(add, { id: 'b' })
    }),
    counted((tx) => tx.run(add, { id: 'b' })),
    counted(async (tx) => {
      await tx.all(read, {})
      await tx.run(add, { id: 'a' })
    }),
  ] as const
  const group = [db.transaction(works[0]), db.transaction(works[1])]
  await hasA.reached
  const next = [db.transaction(works[2]), db.transaction(works[3])]
  await lookForWaits()
  mayGoOn.reach()
  await Promise.all([...group, ...next])
  expect(works.map(({ runs }) => runs())).toEqual([1, 1, 1, 1])
})

test('a writer that locks the log waits until the others of its group have their rows: another gateway may have locked them', async () => {
  const [db, other] = gateways as [PostgresDatabase, PostgresDatabase]
  const [hasRow, mayEnd] = [point(), point()]
  const elsewhere = counted(async (tx) => {
    await tx.run(add, { id: 'a' })
    hasRow.reach()
    await mayEnd.reached
    tx.beforeCommit(append, 'elsewhere')
  })
  const early = counted(async (tx) => {
    await lockLog(tx, 'north')
    tx.beforeCommit(append, 'early')
  })
  const mate = counted(async (tx) => {
    await tx.all(read, {})
    await tx.run(add, { id: 'a' })
  })
  const one = other.transaction(elsewhere)
  await hasRow.reached
  const both = [db.transaction(early), db.transaction(mate)]
  await until(
    () => runSql(url, `${waitForRows}'${name}'`),
    (rows) => rows.length === 1,
  )
  mayEnd.reach()
  await Promise.all([one, ...both])
  expect([elsewhere, early, mate].map(({ runs }) => runs())).toEqual([1, 1, 1])
})

// The next group begins while the statements that were sent together with a commit still run, on another connection of the server.
test('a group that locks a row which the end of the group before it changes too does not wait for it with the row', async () => {
  const [db] = gateways as [PostgresDatabase]
  const isEnding = point()
  const endOfFirst = async (tx: Transaction, ids: readonly string[]): Promise<PipelinedStatements> => {
    await lockLog(tx, 'north')
    const running = [tx.all(sleep, {}), ...ids.map((id) => tx.run(add, { id }))]
    isEnding.reach()
    return pipelined(...running)
  }
  const first = counted(async (tx) => {
    tx.beforeCommit(endOfFirst, 'a')
  })
  const next = counted(async (tx) => {
    await tx.run(add, { id: 'a' })
    tx.beforeCommit(append, 'next')
  })
  const one = db.transaction(first)
  await isEnding.reached
  await Promise.all([one, db.transaction(next)])
  expect([first, next].map(({ runs }) => runs())).toEqual([1, 1])
  expect(await db.all(read, {})).toContainEqual({ id: 'a', count: 2 })
})

test('a writer that waits for a row of one that waits for the log gets it', async () => {
  const [db] = gateways as [PostgresDatabase]
  const holder = counted(async (tx) => {
    await tx.get(lock, { id: 'a' })
    await lockLog(tx, 'north')
    await tx.run(add, { id: 'a' })
  })
  const next = counted(async (tx) => {
    await tx.get(lock, { id: 'a' })
    await tx.run(add, { id: 'a' })
  })
  await Promise.all([db.transaction(holder), db.transaction(next)])
  expect([holder, next].map(({ runs }) => runs())).toEqual([1, 1])
})

/** Each gateway changes two rows, in opposite orders, and the second one only after the other has changed its first or waits. */
function crosswise() {
  const order = [
    ['a', 'b'],
    ['b', 'a'],
  ] as const
  const [hasA, hasB] = [point(), point()]
  return order.map(([own, others], index) =>
    counted(async (tx) => {
      await tx.run(add, { id: own })
      const [mine, theirs] = index === 0 ? [hasA, hasB] : [hasB, hasA]
      mine.reach()
      await Promise.race([theirs.reached, lookForWaits()])
      await tx.run(add, { id: others })
    }),
  )
}

test('two gateways have one deadlock: then the one that lost it locks rows alone', async () => {
  const runs: number[][] = []
  for (let round = 0; round < 4; round++) {
    const works = crosswise()
    await Promise.all(works.map((work, index) => gateways[index]!.transaction(work)))
    runs.push(works.map((work) => work.runs()).sort())
  }
  expect(runs).toEqual([
    [1, 2],
    [1, 1],
    [1, 1],
    [1, 1],
  ])
  expect(await gateways[0]!.all(read, {})).toContainEqual({ id: 'a', count: 8 })
})

type Step = { readonly act: 'add'; readonly id: string } | { readonly act: 'read' | 'log' | 'append' | 'pause' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('add' as const), id: fc.constantFrom(...items) }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('read', 'log', 'append', 'pause') }) },
)

/** A writer that locks one row, if any, and then does its steps. */
const writer = fc.record({
  locked: fc.option(fc.constantFrom(...items)),
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  after: fc.nat({ max: 6 }),
})

test('in any order of any statements, no writer of one gateway is run twice', async () => {
  const [db] = gateways as [PostgresDatabase]
  const expected = new Map(items.map((id) => [id, 0]))
  await fc.assert(
    fc.asyncProperty(fc.array(writer, { minLength: 20, maxLength: 60 }), async (writers) => {
      const works = writers.map(({ locked, steps }) =>
        counted(async (tx) => {
          if (locked !== null) await tx.get(lock, { id: locked })
          for (const one of steps) {
            if (one.act === 'add') await tx.run(add, { id: one.id })
            else if (one.act === 'read') await tx.all(read, {})
            else if (one.act === 'log') await lockLog(tx, 'north')
            else if (one.act === 'append') tx.beforeCommit(append, 'text')
            else await new Promise(setImmediate)
          }
        }),
      )
      const running = writers.map(async ({ after }, index) => {
        for (let n = 0; n < after; n++) await new Promise(setImmediate)
        await db.transaction(works[index]!)
      })
      await Promise.all(running)
      expect(works.map(({ runs }) => runs())).toEqual(works.map(() => 1))
      for (const { steps } of writers)
        for (const one of steps) if (one.act === 'add') expected.set(one.id, expected.get(one.id)! + 1)
      expect(await db.all(read, {})).toEqual(items.map((id) => ({ id, count: expected.get(id) })))
    }),
    { numRuns: 30, endOnFailure: true },
  )
})

test('writers of a group that lock overlapping lists of rows run once each, whatever the order of their lists', async () => {
  const [db] = gateways as [PostgresDatabase]
  const lists = [items, [...items].reverse(), ['c', 'f', 'a'], ['f', 'e'], ['b']]
  const works = lists.map((ids) =>
    counted(async (tx) => {
      const locked = await lockAll.all(tx, ids)
      for (const { id } of locked) await tx.run(add, { id })
    }),
  )
  await Promise.all(works.map((work) => db.transaction(work)))
  expect(works.map(({ runs }) => runs())).toEqual([1, 1, 1, 1, 1])
  const counts = items.map((id) => ({ id, count: lists.filter((list) => list.includes(id)).length }))
  expect(await db.all(read, {})).toEqual(counts)
})

test('two gateways that lock the same rows in opposite lists end in no deadlock', async () => {
  const works = Array.from({ length: 20 }, (_, at) =>
    counted(async (tx) => {
      for (const { id } of await lockAll.all(tx, at % 2 ? items : [...items].reverse())) await tx.run(add, { id })
    }),
  )
  await Promise.all(works.map((work, at) => gateways[at % 2]!.transaction(work)))
  expect(works.map(({ runs }) => runs())).toEqual(Array(20).fill(1))
  expect(await gateways[0]!.all(read, {})).toEqual(items.map((id) => ({ id, count: 20 })))
})
