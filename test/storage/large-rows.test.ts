import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { migrate } from '../../src/storage/sqlite/migrate.ts'

/** The tables whose rows may have more than 64 KiB, with their large columns. */
const large = {
  task: ['tagged_concepts', 'metadata', 'first_message'],
  task_message: ['message'],
  task_chunk: ['artifact'],
  // Who reads the person reads the body too.
  message: ['subject', 'tagged_concepts', 'payload', 'body', 'person'],
} as const

test.each(Object.entries(large))(
  'a search reads the keys of %s, and its small columns come before the large ones',
  (table, columns) => {
    const db = new Sqlite(':memory:')
    migrate(db, 1)
    expect(db.prepare('select wr from pragma_table_list where name = ?').pluck().get(table)).toBe(0)
    expect(
      db.prepare('select name from pragma_table_info(?) order by cid').pluck().all(table).slice(-columns.length),
    ).toEqual(columns)
    db.close()
  },
)
