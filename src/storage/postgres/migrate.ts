import pg from 'pg'
import { pendingMigrations } from '../migrations.ts'
import { lockSpaces } from './advisory-lock.ts'
import { connectionOptions } from './connection-options.ts'
import type { WriteConnection } from './write-connection.ts'

const versionSql = 'select coalesce(max(version), 0) as version from schema_migration'
const undefinedTable = '42P01'

/** Returns whether the store has every migration of this build. Throws when it is newer. */
export async function isMigrated(connection: WriteConnection): Promise<boolean> {
  try {
    const { rows } = await connection.query(versionSql)
    return pendingMigrations('postgres', rows[0].version).length === 0
  } catch (error) {
    if ((error as { code?: string }).code === undefinedTable) return false
    throw error
  }
}

/**
 * Applies the migrations that the store does not have yet, each in its own transaction. If several gateways start at the same
 * time, one migrates, and the others wait and then find nothing to do.
 */
export async function migrate(url: string, now: number): Promise<void> {
  // No time limit: a migration may take long, and so may waiting for one.
  const client = new pg.Client({ ...connectionOptions(url), statement_timeout: 0, lock_timeout: 0 })
  client.on('error', () => {})
  await client.connect()
  try {
    await requireUnicode(client)
    await client.query('select pg_advisory_lock($1, hashtext(current_schema()))', [lockSpaces.migration])
    await client.query(`create table if not exists schema_migration
      (version bigint primary key, name text not null, applied_at bigint not null)`)
    const { rows } = await client.query(versionSql)
    for (const { version, name, text } of pendingMigrations('postgres', rows[0].version)) {
      await client.query('begin')
      await client.query(text)
      await client.query('insert into schema_migration values ($1, $2, $3)', [version, name, now])
      await client.query('commit')
    }
  } finally {
    // This also releases the lock, and ends a failed transaction.
    await client.end()
  }
}

/** A database with another encoding would refuse single messages later. */
async function requireUnicode(client: pg.Client): Promise<void> {
  const { rows } = await client.query('show server_encoding')
  if (rows[0].server_encoding === 'UTF8') return
  throw new Error(
    `The database has the encoding ${rows[0].server_encoding}. Create one with: createdb --encoding UTF8 --template template0 rouse`,
  )
}
