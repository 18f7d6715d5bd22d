import type { WriteConnection } from './write-connection.ts'

/** The remedy for a pooler that has no sessions. */
export const poolerRemedy =
  'Give the address of PostgreSQL itself in ROUSE_DATABASE_URL, or set the pooler to sessions (pool_mode = session of PgBouncer).'

/**
 * Throws where a pooler lends the sessions of PostgreSQL for one transaction each. LISTEN, the locks and settings of a session, and prepared
 * statements are lost there, some of them without an error.
 */
export async function refuseTransactionPooler(one: WriteConnection, other: WriteConnection): Promise<void> {
  await Promise.all([one.open(), other.open()])
  const first = await serverProcessOf(one)
  const second = await serverProcessOf(other)
  // A pooler hands out the session that was given back last, or each in turn.
  if (first !== second && second === (await serverProcessOf(other))) return
  throw new Error(
    `A pooler before PostgreSQL lends its sessions for one transaction each, but Rouse needs sessions of its own. ${poolerRemedy}`,
  )
}

async function serverProcessOf(connection: WriteConnection): Promise<number> {
  return (await connection.query('select pg_backend_pid() as id')).rows[0].id
}
