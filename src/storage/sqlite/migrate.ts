import type Sqlite from 'better-sqlite3'
import { pendingMigrations } from '../migrations.ts'

/** Applies the migrations that the store does not have yet, each in its own transaction. */
export function migrate(database: Sqlite.Database, now: number): void {
  database.exec(
    'create table if not exists schema_migration (version integer primary key, name text not null, applied_at integer not null)',
  )
  const { version: applied } = database
    .prepare('select coalesce(max(version), 0) as version from schema_migration')
    .get() as { version: number }
  for (const { version, name, text } of pendingMigrations('sqlite', applied)) {
    database.transaction(() => {
      database.exec(text)
      database.prepare('insert into schema_migration values (?, ?, ?)').run(version, name, now)
    })()
  }
}
