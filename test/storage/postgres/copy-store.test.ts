import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { copyStore } from '../../../src/storage/copy-store.ts'
import { NewStore } from '../../../src/storage/postgres/new-store.ts'
import { SqliteDatabase } from '../../../src/storage/sqlite/sqlite-database.ts'
import { StoppedStore } from '../../../src/storage/sqlite/stopped-store.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { emptyPostgres } from '../../support/empty-postgres.ts'
import { runSql } from '../../support/store.ts'

const texts = ['', 'plain', `'"\\{},;`, 'null', 'NULL', 'a\nb\tc', 'Ünïcödé ☃ 😀', '{"a":[1,null]}', ' x '.repeat(3000)]
const numbers = [0, 1, -1, 1_700_000_000_000, Number.MAX_SAFE_INTEGER]

/** A store in which every column of every table has seen every kind of value. */
async function filledStore(directory: string, rows = 20): Promise<void> {
  await SqliteDatabase.open(directory, systemClock).close()
  const raw = new Sqlite(join(directory, 'rouse.db'))
  const tables = raw
    .prepare("select name from sqlite_schema where type = 'table' and name <> 'schema_migration'")
    .pluck()
    .all() as string[]
  raw.transaction(() => {
    for (const table of tables) {
      const columns = raw.pragma(`table_info(${table})`) as { name: string; type: string; notnull: 0 | 1 }[]
      const unique = new Set(
        raw
          .prepare('select i.name from pragma_index_list(?) l, pragma_index_info(l.name) i where l."unique" = 1')
          .pluck()
          .all(table),
      )
      const slots = columns.map(() => '?').join(', ')
      const insert = raw.prepare(
        `insert into ${table} (${columns.map(({ name }) => name).join(', ')}) values (${slots})`,
      )
      for (let row = 0; row < rows; row++) {
        const values = columns.map(({ name, type, notnull }, at) => {
          if (unique.has(name)) return /int/i.test(type) ? row : `${name}-${row}`
          if (notnull === 0 && (row + at) % 3 === 0) return null
          return /int/i.test(type) ? numbers[(row + at) % numbers.length] : texts[(row + at) % texts.length]
        })
        insert.run(...values)
      }
    }
  })()
  raw.close()
}

test('both engines have the same tables and columns, so that none is forgotten', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await filledStore(directory.path, 0)
  await using source = StoppedStore.open(directory.path, systemClock)
  await using target = await NewStore.open(empty.url, systemClock)
  expect(await target.tables()).toEqual(source.tables())
  expect(source.tables().map(({ name }) => name)).toEqual(
    expect.arrayContaining(['event', 'message', 'subscription', 'task']),
  )
})

test('every row of every table arrives as it was', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await filledStore(directory.path)
  await using source = StoppedStore.open(directory.path, systemClock)
  await using target = await NewStore.open(empty.url, systemClock)
  const copy = await copyStore(source, target)
  expect(copy.textsMended).toBe(0)
  for (const table of source.tables()) {
    const columns = table.columns.map((column) => `"${column}"`).join(', ')
    const found = await runSql(empty.url, `select ${columns} from "${table.name}"`)
    const rows = found.map((row) => JSON.stringify(table.columns.map((column) => row[column])))
    expect(rows.sort(), table.name).toEqual([...source.rows(table)].map((row) => JSON.stringify(row)).sort())
    expect(copy.tables).toContainEqual({ name: table.name, rows: rows.length })
  }
})

test('a table that is larger than a batch is copied whole, with progress reports', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await SqliteDatabase.open(directory.path, systemClock).close()
  const raw = new Sqlite(join(directory.path, 'rouse.db'))
  raw.exec(`insert into project (id, log_head, created_at) values ('default', 30000, 1)`)
  raw.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 30000)
    insert into event (project_id, log_id, type, actor, data, created_at) select 'default', i, 't', 'a', '{}', i from n`)
  raw.close()
  await using source = StoppedStore.open(directory.path, systemClock)
  await using target = await NewStore.open(empty.url, systemClock)
  const reports: string[] = []
  const progress = (done: number, total: number) => void reports.push(`${done} of ${total}`)
  const { logHeads } = await copyStore(source, target, { progress })
  expect(logHeads).toEqual([{ projectId: 'default', logHead: 30_000, newestLogId: 30_000 }])
  expect(reports).toEqual(expect.arrayContaining(['2000 of 30001', '28000 of 30001', '30001 of 30001']))
})

test('a NUL, which PostgreSQL cannot store, becomes U+FFFD and is counted', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await filledStore(directory.path, 0)
  const raw = new Sqlite(join(directory.path, 'rouse.db'))
  raw.exec(`insert into project (id, log_head, created_at) values ('default', 1, 1)`)
  raw
    .prepare(
      "insert into event (project_id, log_id, type, actor, data, created_at) values ('default', 1, 't', 'a', ?, 1)",
    )
    .run('{"a\0b\0c"}')
  raw.close()
  await using source = StoppedStore.open(directory.path, systemClock)
  await using target = await NewStore.open(empty.url, systemClock)
  expect((await copyStore(source, target)).textsMended).toBe(1)
  expect(await runSql(empty.url, 'select data from event')).toEqual([{ data: '{"a\ufffdb\ufffdc"}' }])
})

test('a target with data is refused by name, and left as it is', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await filledStore(directory.path)
  await using source = StoppedStore.open(directory.path, systemClock)
  await (await NewStore.open(empty.url, systemClock))[Symbol.asyncDispose]()
  await runSql(empty.url, `insert into project (id, created_at) values ('default', 1)`)
  await using target = await NewStore.open(empty.url, systemClock)
  await expect(copyStore(source, target)).rejects.toThrow(/already has data: project \(1\).*empty database/)
  expect(await runSql(empty.url, 'select id from project')).toEqual([{ id: 'default' }])
})

test('a target with another schema is refused', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await filledStore(directory.path)
  await using source = StoppedStore.open(directory.path, systemClock)
  await using target = await NewStore.open(empty.url, systemClock)
  await runSql(empty.url, 'create table stranger (id text); alter table task drop column reason')
  await expect(copyStore(source, target)).rejects.toThrow(
    /schema is not the source's: (task\.reason, stranger\.id|stranger\.id, task\.reason)/,
  )
})

test('an interrupted copy leaves nothing, and can be repeated', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await filledStore(directory.path)
  await using source = StoppedStore.open(directory.path, systemClock)
  const interruption = new AbortController()
  {
    await using target = await NewStore.open(empty.url, systemClock)
    const progress = (done: number) => done > 100 && interruption.abort(new Error('Ctrl-C'))
    await expect(copyStore(source, target, { progress, signal: interruption.signal })).rejects.toThrow('Ctrl-C')
  }
  expect(
    await runSql(empty.url, 'select (select count(*) from agent) + (select count(*) from project) as rows'),
  ).toEqual([{ rows: 0 }])
  await using target = await NewStore.open(empty.url, systemClock)
  await copyStore(source, target)
  expect(await runSql(empty.url, 'select count(*) as rows from agent')).toEqual([{ rows: 20 }])
})

test('a target that is in use is refused', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await filledStore(directory.path)
  await using source = StoppedStore.open(directory.path, systemClock)
  await using target = await NewStore.open(empty.url, systemClock)
  const other = new pg.Client({ connectionString: empty.url })
  await other.connect()
  await other.query(`begin; insert into project (id, created_at) values ('default', 1)`)
  await expect(copyStore(source, target)).rejects.toThrow('The target is in use')
  await other.end()
})

test('a store that a gateway runs on is refused, and a directory without one', async () => {
  using directory = dataDirectory()
  expect(() => StoppedStore.open(directory.path, systemClock)).toThrow(/no store in .*--data-dir/)
  await using _running = SqliteDatabase.open(directory.path, systemClock)
  expect(() => StoppedStore.open(directory.path, systemClock)).toThrow('Another gateway is running')
})
