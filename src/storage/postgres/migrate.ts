import pg from 'pg'
import { pendingMigrations } from '../migrations.ts'
import { connectionOptions } from './connection-options.ts'

/** Any number, so long as nothing else on the database locks with it: the gateway's default port. */
const lockSpace = 4520

/**
 * Applies the migrations that the store does not have yet, each in a transaction of its own. Several gateways may start at
 * once: one migrates, the others wait for it and find nothing to do.
 */
export async function migrate(url: string, now: number): Promise<void> {
  // A migration takes as long as it takes, and so does waiting for one.
  const client = new pg.Client({ ...connectionOptions(url), statement_timeout: 0, lock_timeout: 0 })
  client.on('error', () => {})
  await client.connect()
  try {
    await requireUnicode(client)
    await client.query('select pg_advisory_lock($1, hashtext(current_schema()))', [lockSpace])
    await client.query(`create table if not exists schema_migration
      (version bigint primary key, name text not null, applied_at bigint not null)`)
    const { rows } = await client.query('select coalesce(max(version), 0) as version from schema_migration')
    for (const { version, name, text } of pendingMigrations('postgres', rows[0].version)) {
      await client.query('begin')
      await client.query(text)
      await client.query('insert into schema_migration values ($1, $2, $3)', [version, name, now])
      await client.query('commit')
    }
  } finally {
    // Ends the lock too, and a transaction that failed.
    await client.end()
  }
}

/** Any other encoding would refuse what people write, one message at a time. */
async function requireUnicode(client: pg.Client): Promise<void> {
  const { rows } = await client.query('show server_encoding')
  if (rows[0].server_encoding === 'UTF8') return
  throw new Error(
    `The database has the encoding ${rows[0].server_encoding}. Create one with: createdb --encoding UTF8 --template template0 rouse`,
  )
}
