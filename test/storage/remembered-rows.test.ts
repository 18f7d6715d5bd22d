import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Agent } from '../../src/registry/agents/agent.ts'
import { findAgent, insertAgent } from '../../src/registry/agents/agent-store.ts'
import { Connection } from '../../src/storage/sqlite/connection.ts'
import { SqliteDatabase } from '../../src/storage/sqlite/sqlite-database.ts'
import { p, rareTables, remembered, sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'

const limits = remembered(
  statement<{ id: string }, { limits: string | null }>(sql`select limits from project where id = ${p('id')}`),
)
const setLimits = statement<{ limits: string }>(sql`update project set limits = ${p('limits')}`)
const insert = statement<object>(sql`insert into project (id, created_at) values ('default', 0)`)
const moveHead = statement<object>(sql`update project set log_head = log_head + 1 where id = 'default'`)

let directory: ReturnType<typeof dataDirectory>
let db: SqliteDatabase
let reads: () => number

beforeEach(async () => {
  directory = dataDirectory()
  db = SqliteDatabase.open(directory.path, new FakeClock())
  await db.transaction((tx) => tx.run(insert, {}))
  const get = vi.spyOn(Connection.prototype, 'get')
  reads = () => get.mock.calls.filter(([read]) => (read as object) === limits).length
})
afterEach(async () => {
  vi.restoreAllMocks()
  await db.close()
  directory[Symbol.dispose]()
})

const read = async () => (await db.get(limits, { id: 'default' }))?.limits
const write = (text: string) => db.transaction((tx) => tx.run(setLimits, { limits: text }))

test('a row is read once, until a statement changes one of its tables', async () => {
  expect([await read(), await read()]).toEqual([null, null])
  await db.transaction((tx) => tx.run(moveHead, {}))
  expect(await read()).toBeNull()
  expect(reads()).toBe(1)
  await write('{"keys":1}')
  expect([await read(), await read()]).toEqual(['{"keys":1}', '{"keys":1}'])
  expect(reads()).toBe(2)
})

const agent: Agent = {
  id: 'a1',
  projectId: 'default',
  handle: '@donna',
  displayName: null,
  description: null,
  aliases: ['@desk'],
  skills: [{ id: 's', name: 'Search' }],
  inputModes: [],
  outputModes: ['text/plain'],
  access: 'public',
  contactPolicy: 'everybody',
  defaultWakePolicy: 'immediate',
  version: 1,
  createdAt: 1,
  updatedAt: 1,
}

test('an agent that is remembered is read each time as it was written', async () => {
  await db.transaction((tx) => insertAgent(tx, agent))
  for (const _ of ['from the store', 'remembered', 'remembered again'])
    expect(await findAgent(db, 'default', '@desk')).toEqual(agent)
})

test.each([
  'update or ignore project set limits = null',
  'UPDATE "project" SET limits = null',
  'update main.project set limits = null',
  'UPDATE PROJECT set limits = null',
  'update project set log_head = log_head + 1, limits = null where 1 = 1',
  'replace into project (id, created_at) values (1, 0)',
  'with one as (select 1) update project set limits = null',
])('every way to write a change forgets: %s', async (text) => {
  await read()
  await db.transaction((tx) => tx.run(statement<object>(sql.raw(text)), {}))
  await read()
  expect(reads()).toBe(2)
})

test('of many rows the newest are remembered', async () => {
  const insertMany = statement<{ count: number }>(sql`insert into project (id, created_at)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${p('count')}) select 'p' || i, 0 from n`)
  await db.transaction((tx) => tx.run(insertMany, { count: 600 }))
  for (let i = 1; i <= 600; i++) await db.get(limits, { id: `p${i}` })
  await db.get(limits, { id: 'p600' })
  expect(reads()).toBe(600)
  await db.get(limits, { id: 'p1' })
  expect(reads()).toBe(601)
})

test('a change is seen when it is committed, not before, and never when it is undone', async () => {
  await read()
  const seen: unknown[] = []
  await db.transaction(async (tx) => {
    await tx.run(setLimits, { limits: '{"keys":1}' })
    await new Promise(setImmediate)
    seen.push(await read(), await read())
  })
  expect(seen).toEqual([null, null])
  expect(await read()).toBe('{"keys":1}')
  const failing = db.transaction(async (tx) => {
    await tx.run(setLimits, { limits: '{"keys":2}' })
    throw new Error('undone')
  })
  await expect(failing).rejects.toThrow('undone')
  expect(await read()).toBe('{"keys":1}')
})

test('a row that is not there is looked for again', async () => {
  expect(await db.get(limits, { id: 'other' })).toBeUndefined()
  expect(await db.get(limits, { id: 'other' })).toBeUndefined()
  expect(reads()).toBe(2)
})

test('no other table changes a remembered one: the schema has neither triggers nor cascades', () => {
  const connection = new Connection(`${directory.path}/rouse.db`, { readonly: true })
  const { schema } = connection.raw.prepare(`select group_concat(sql, ' ') as "schema" from sqlite_schema`).get() as {
    schema: string
  }
  connection.close()
  for (const table of rareTables) expect(schema).toMatch(new RegExp(`create table ${table} `, 'i'))
  expect(schema).not.toMatch(/create trigger|on (delete|update) (cascade|set)/i)
})
