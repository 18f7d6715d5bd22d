import type { Clock } from '../lib/clock.ts'
import type { Database } from './database.ts'
import { PostgresDatabase } from './postgres/postgres-database.ts'
import { SqliteDatabase } from './sqlite/sqlite-database.ts'

/** Opens the store: PostgreSQL where there is a URL, else the embedded one in the data directory. Brings its schema up to this build. */
export async function openDatabase(
  where: { readonly databaseUrl: string | undefined; readonly dataDir: string },
  clock: Clock,
): Promise<Database> {
  if (where.databaseUrl !== undefined) return PostgresDatabase.open(where.databaseUrl, clock)
  return SqliteDatabase.open(where.dataDir, clock)
}
