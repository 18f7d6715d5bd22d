import type Sqlite from 'better-sqlite3'
import { readVersion } from '../../lib/version.ts'
import { type AppliedMigration, lacksHash, ownMigrations, pendingMigrations } from '../migrations.ts'

const columnsSql = `select relation.name || ' ' || item.name || ' ' || item.type || ' ' || item."notnull"
    from sqlite_schema relation, pragma_table_info(relation.name) item where relation.type = 'table'
  union all select relation.name || ' ' || item.seqno || ' ' || coalesce(item.name, 'expr')
    from sqlite_schema relation, pragma_index_info(relation.name) item where relation.type = 'index'`

/**
 * Applies the migrations that the store does not have yet, each in its own transaction. Throws, with the store as it was, when this
 * build cannot serve it.
 */
export function migrate(database: Sqlite.Database, now: number, own = ownMigrations('sqlite')): void {
  const applied = appliedTo(database)
  const columns = lacksHash(applied) ? (database.prepare(columnsSql).pluck().all() as string[]) : []
  const pending = pendingMigrations('sqlite', own, applied, columns)
  if (pending.length === 0 && !lacksHash(applied)) return
  database.transaction(() => noteHashes(database, own[0]!.hash))()
  for (const { version, name, text, hash } of pending) {
    database.transaction(() => {
      database.exec(text)
      database
        .prepare('insert into schema_migration (version, name, applied_at, hash, build) values (?, ?, ?, ?, ?)')
        .run(version, name, now, hash, readVersion())
    })()
  }
}

function appliedTo(database: Sqlite.Database): AppliedMigration[] {
  const isNew = database.pragma('table_info(schema_migration)', { simple: true }) === undefined
  return isNew ? [] : (database.prepare('select * from schema_migration order by version').all() as AppliedMigration[])
}

/** Makes the table of migrations, or completes that of a build that kept no hashes: its one migration is the first. */
function noteHashes(database: Sqlite.Database, firstHash: string): void {
  database.exec(
    'create table if not exists schema_migration (version integer primary key, name text not null, applied_at integer not null, hash text, build text)',
  )
  const columns = database.prepare("select name from pragma_table_info('schema_migration')").pluck().all()
  for (const column of ['hash', 'build'].filter((name) => !columns.includes(name))) {
    database.exec(`alter table schema_migration add column ${column} text`)
  }
  database.prepare('update schema_migration set hash = ? where hash is null').run(firstHash)
}
