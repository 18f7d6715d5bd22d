import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { migrate } from '../../src/storage/sqlite/migrate.ts'

/** The tables whose rows may have more than 64 KiB, with their large columns. */
const large = {
  task: ['tagged_concepts', 'metadata'],
  task_message: ['message'],
  task_chunk: ['artifact'],
  message: ['subject', 'tagged_concepts', 'payload', 'body'],
} as const
/** A column that a later migration adds is the last one, and is read without the ones before it where it is null: the row's header tells. */
const addedLater: Readonly<Record<string, readonly string[]>> = { task_message: ['pieces_id'] }
const tables = Object.keys(large) as (keyof typeof large)[]
const folder = join(import.meta.dirname, '../../drizzle/sqlite')

interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
}

const columnsOf = (db: Sqlite.Database, table: string): Column[] =>
  (db.prepare(`pragma table_info(${table})`).all() as Column[]).filter(({ name }) => !addedLater[table]?.includes(name))

/** A store as the version before made it, with a row of each table, and of each column that may be null one row with it and one without. */
function olderStore(): Sqlite.Database {
  const db = new Sqlite(':memory:')
  db.exec(
    'create table schema_migration (version integer primary key, name text not null, applied_at integer not null)',
  )
  for (const name of readdirSync(folder)
    .sort()
    .filter((file) => file < '0026')) {
    db.exec(readFileSync(join(folder, name), 'utf8'))
    db.prepare('insert into schema_migration values (?, ?, 1)').run(Number(name.slice(0, 4)), name)
  }
  for (const table of tables) {
    for (const nth of [1, 2]) {
      const columns = columnsOf(db, table)
      const values = columns.map(({ name, type, notnull }, index) => {
        if (nth === 2 && notnull === 0 && name !== 'id') return null
        return type.toLowerCase() === 'integer' ? 100 * nth + index : `${name}-${nth}-${'x'.repeat(index * 1_000)}`
      })
      db.prepare(`insert into ${table} values (${columns.map(() => '?').join(', ')})`).run(...values)
    }
  }
  return db
}

const rowsOf = (db: Sqlite.Database, table: string): unknown[] => {
  const columns = columnsOf(db, table).map(({ name }) => name)
  return db.prepare(`select ${columns.join(', ')} from ${table} order by 1`).all()
}

test('an older store keeps every value of its large rows', () => {
  const db = olderStore()
  const before = tables.map((table) => rowsOf(db, table))
  migrate(db, 1)
  expect(tables.map((table) => rowsOf(db, table))).toEqual(before)
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  db.close()
})

test('a search reads the keys of large rows, and a small column comes before the large ones', () => {
  const db = new Sqlite(':memory:')
  migrate(db, 1)
  for (const table of tables) {
    const { wr } = db.prepare('select wr from pragma_table_list where name = ?').get(table) as { wr: number }
    expect([table, wr]).toEqual([table, 0])
    expect(
      columnsOf(db, table)
        .slice(-large[table].length)
        .map(({ name }) => name),
    ).toEqual(large[table])
  }
  db.close()
})

test('the columns, their defaults and the indexes of large rows are those of before', () => {
  const [before, after] = [olderStore(), new Sqlite(':memory:')]
  migrate(after, 1)
  const shape = (db: Sqlite.Database, table: string) =>
    columnsOf(db, table)
      .map(({ name, type, notnull, dflt_value }) => `${name} ${type.toLowerCase()} ${notnull} ${dflt_value}`)
      .sort()
  const indexes = (db: Sqlite.Database, table: string): string[] =>
    db
      .prepare(`select sql from sqlite_master where type = 'index' and tbl_name = ? and sql is not null order by 1`)
      .all(table)
      .map((row) => (row as { sql: string }).sql.replaceAll(/\s+/g, ' '))
  for (const table of tables) {
    expect(shape(after, table)).toEqual(shape(before, table))
    expect(indexes(after, table)).toEqual(indexes(before, table))
  }
  before.close()
  after.close()
})
