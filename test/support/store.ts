import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import type { Clock } from '../../src/lib/clock.ts'
import type { Database } from '../../src/storage/database.ts'
import { openDatabase } from '../../src/storage/open-database.ts'
import { inSchema, noteSql, schemaUrlFor } from './schemas.ts'
import { placeMigratedStore } from './sqlite-template.ts'

/** The engine that this run is on: ROUSE_TEST_ENGINE. */
export const engine = process.env.ROUSE_TEST_ENGINE === 'postgres' ? 'postgres' : 'sqlite'
export const onPostgres = engine === 'postgres'

/**
 * Where the store of a data directory is: on PostgreSQL a schema that belongs to the directory, so that whoever starts on the
 * same directory finds the same store. It is empty, and may be migrated already.
 */
export async function databaseUrlFor(dataDir: string): Promise<string | undefined> {
  return onPostgres ? schemaUrlFor(dataDir) : undefined
}

/** The store of a data directory, on this run's engine. */
export async function openStore(dataDir: string, clock: Clock): Promise<Database> {
  if (!onPostgres) await placeMigratedStore(dataDir)
  return openDatabase({ databaseUrl: await databaseUrlFor(dataDir), dataDir }, clock)
}

/** The gateway's environment for its store, which is there and empty unless a test has said where it is. */
export async function storeEnv(dataDir: string, env: Record<string, string> = {}): Promise<Record<string, string>> {
  if (env.ROUSE_DATABASE_URL !== undefined) return {}
  if (!onPostgres) await placeMigratedStore(dataDir)
  const url = await databaseUrlFor(dataDir)
  return url === undefined ? {} : { ROUSE_DATABASE_URL: url }
}

/** Runs SQL on a connection of its own, beside the store. */
export async function runSql(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  noteSql(url, text)
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  client.setTypeParser(pg.types.builtins.INT8, Number)
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Looks into a store, or changes what no caller could, beside whoever runs on it. Parameters are `?`. */
export async function besideStore(
  dataDir: string,
  text: string,
  ...values: (string | number)[]
): Promise<Record<string, string | number | null>[]> {
  const url = await databaseUrlFor(dataDir)
  if (url !== undefined) {
    let count = 0
    const numbered = text.replace(/\?/g, () => `$${++count}`)
    return (await inSchema(url, numbered, values)) as Record<string, string | number | null>[]
  }
  const raw = new Sqlite(join(dataDir, 'rouse.db'), { timeout: 5_000 })
  try {
    const statement = raw.prepare(text)
    if (statement.reader) return statement.all(...values) as Record<string, string | number | null>[]
    statement.run(...values)
    return []
  } finally {
    raw.close()
  }
}

/** Makes the store refuse every new row of a table, until the answer is called. */
export async function refuseInserts(dataDir: string, table: string): Promise<() => Promise<void>> {
  if (!onPostgres) {
    const refuse = `begin select raise(abort, 'refused'); end`
    await besideStore(dataDir, `create trigger refuse_${table} before insert on ${table} ${refuse}`)
    return async () => void (await besideStore(dataDir, `drop trigger refuse_${table}`))
  }
  const refuse = `begin raise exception 'refused'; end`
  await besideStore(
    dataDir,
    `create function refuse() returns trigger language plpgsql as '${refuse.replaceAll("'", "''")}'`,
  )
  await besideStore(dataDir, `create trigger refuse before insert on ${table} for each row execute function refuse()`)
  return async () => void (await besideStore(dataDir, 'drop function refuse() cascade'))
}

/** Keeps everybody else from writing to a store, until the answer is called. */
export async function blockWrites(dataDir: string): Promise<() => Promise<void>> {
  const url = await databaseUrlFor(dataDir)
  if (url === undefined) {
    const raw = new Sqlite(join(dataDir, 'rouse.db'))
    raw.exec('BEGIN IMMEDIATE')
    return async () => void raw.exec('ROLLBACK').close()
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin')
  await client.query('lock table agent, event, task in exclusive mode')
  return () => client.end()
}
