import pg from 'pg'
import { readVersion } from '../../lib/version.ts'
import { type AppliedMigration, lacksHash, ownMigrations, pendingMigrations } from '../migrations.ts'
import { lockSpaces } from './advisory-lock.ts'
import { connectionOptions } from './connection-options.ts'
import type { WriteConnection } from './write-connection.ts'

const undefinedTable = '42P01'
// The columns of an index are attributes too, with the names of the table's columns.
const columnsSql = `select c.relname || ' ' || a.attnum || ' ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull as line
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'i') and a.attnum > 0 and not a.attisdropped`

/** Returns whether the store has every migration of this build, each with its hash. Throws when this build cannot serve it. */
export async function isMigrated(connection: WriteConnection): Promise<boolean> {
  const applied = await appliedTo(connection)
  return !lacksHash(applied) && pendingMigrations('postgres', ownMigrations('postgres'), applied, []).length === 0
}

/**
 * Applies the migrations that the store does not have yet, each in its own transaction. If several gateways start at the same
 * time, one migrates, and the others wait and then find nothing to do.
 */
export async function migrate(url: string, now: number, own = ownMigrations('postgres')): Promise<void> {
  // No time limit: a migration may take long, and so may waiting for one.
  const client = new pg.Client({ ...connectionOptions(url), statement_timeout: 0, lock_timeout: 0 })
  client.on('error', () => {})
  await client.connect()
  try {
    await requireUnicode(client)
    await client.query('select pg_advisory_lock($1, hashtext(current_schema()))', [lockSpaces.migration])
    const { rows } = await client.query(columnsSql)
    const columns = rows.map(({ line }) => line)
    const pending = pendingMigrations('postgres', own, await appliedTo(client), columns)
    await noteHashes(client, own[0]!.hash)
    for (const { version, name, text, hash } of pending) {
      await client.query('begin')
      await client.query(text)
      await client.query(
        'insert into schema_migration (version, name, applied_at, hash, build) values ($1, $2, $3, $4, $5)',
        [version, name, now, hash, readVersion()],
      )
      await client.query('commit')
    }
  } finally {
    // This also releases the lock, and ends a failed transaction.
    await client.end()
  }
}

async function appliedTo(connection: pg.Client | WriteConnection): Promise<AppliedMigration[]> {
  try {
    return (await connection.query('select * from schema_migration order by version')).rows
  } catch (error) {
    if ((error as { code?: string }).code === undefinedTable) return []
    throw error
  }
}

/** Makes the table of migrations, or completes that of a build that kept no hashes: its one migration is the first. */
async function noteHashes(client: pg.Client, firstHash: string): Promise<void> {
  await client.query(`create table if not exists schema_migration
    (version bigint primary key, name text not null, applied_at bigint not null, hash text, build text)`)
  await client.query(
    'alter table schema_migration add column if not exists hash text, add column if not exists build text',
  )
  await client.query('update schema_migration set hash = $1 where hash is null', [firstHash])
}

/** A database with another encoding would refuse single messages later. */
async function requireUnicode(client: pg.Client): Promise<void> {
  const { rows } = await client.query('show server_encoding')
  if (rows[0].server_encoding === 'UTF8') return
  throw new Error(
    `The database has the encoding ${rows[0].server_encoding}. Create one with: createdb --encoding UTF8 --template template0 rouse`,
  )
}
