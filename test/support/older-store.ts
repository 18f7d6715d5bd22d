import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { createSchema } from './schemas.ts'
import { engine, onPostgres, runSql } from './store.ts'

/** Makes a store as the builds up to a schema version left it. */
export async function migrateTo(dataDir: string, version: number): Promise<void> {
  const migrations = new URL(`../../drizzle/${engine}/`, import.meta.url)
  const url = onPostgres ? await createSchema(dataDir) : undefined
  const files = readdirSync(migrations)
    .filter((file) => Number(file.slice(0, 4)) <= version)
    .sort()
  const texts = [
    'create table schema_migration (version bigint primary key, name text not null, applied_at bigint not null)',
    ...files.map((file) => readFileSync(new URL(file, migrations), 'utf8')),
    ...files.map((file) => `insert into schema_migration values (${Number(file.slice(0, 4))}, '${file}', 0)`),
  ]
  if (url !== undefined) {
    for (const text of texts) await runSql(url, text)
    return
  }
  const raw = new Sqlite(join(dataDir, 'rouse.db'))
  for (const text of texts) raw.exec(text)
  raw.close()
}
