import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../logger/logger.ts'
import type { Database, NoteCommit } from './database.ts'

/** Opens the store (PostgreSQL if there is a URL, else SQLite in the data directory) and migrates its schema. Loads only the engine that it needs. */
export async function openDatabase(
  where: { readonly databaseUrl: string | undefined; readonly dataDir: string },
  clock: Clock,
  log?: Logger,
  noteCommit?: NoteCommit,
): Promise<Database> {
  if (where.databaseUrl !== undefined) {
    const { PostgresDatabase } = await import('./postgres/postgres-database.ts')
    return PostgresDatabase.open(where.databaseUrl, clock, noteCommit)
  }
  const { requireNotMigrated } = await import('./sqlite/migrated.ts')
  requireNotMigrated(where.dataDir)
  const { SqliteDatabase } = await import('./sqlite/sqlite-database.ts')
  return SqliteDatabase.open(where.dataDir, clock, log, noteCommit)
}
