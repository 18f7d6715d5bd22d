import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type Sqlite from 'better-sqlite3'

const directory = fileURLToPath(new URL('../../drizzle/sqlite/', import.meta.url))

/**
 * Applies the numbered migrations that the store does not have yet, each in a transaction of its own.
 * Throws when the store is newer than this build: an older build would read it wrongly.
 */
export function migrate(database: Sqlite.Database, now: number): void {
  database.exec(
    'create table if not exists schema_migration (version integer primary key, name text not null, applied_at integer not null)',
  )
  const applied = (
    database.prepare('select coalesce(max(version), 0) as version from schema_migration').get() as { version: number }
  ).version
  const migrations = listMigrations()
  const newest = migrations.at(-1)?.version ?? 0
  if (applied > newest) {
    throw new Error(
      `The store is at schema ${applied} and this build knows schemas up to ${newest}. Start the newer build, or restore a copy made by this one.`,
    )
  }
  for (const migration of migrations.filter(({ version }) => version > applied)) {
    database.transaction(() => {
      database.exec(readFileSync(`${directory}${migration.name}`, 'utf8'))
      database.prepare('insert into schema_migration values (?, ?, ?)').run(migration.version, migration.name, now)
    })()
  }
}

function listMigrations(): { version: number; name: string }[] {
  return readdirSync(directory)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 4)), name }))
}
