import type { Database } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

/** A row that only this gateway writes: no other writer ever waits for it. */
const ownRow = statement<{ id: string }>(sql`update gateway set started_at = started_at where id = ${p('id')}`)
/** The embedded store has no row for its one gateway. Its lease ends at once, so no gateway gets it. */
const embeddedRow = statement<{ now: number }>(sql`insert into sweep (name, owner, until)
  values ('readiness', '', ${p('now')}) on conflict (name) do update set until = excluded.until`)

/**
 * Commits a row that means nothing. Rejects when the store accepts no writes: it is read-only, full or gone.
 * @param gatewayId of a gateway that shares its store; undefined: the store is embedded
 */
export async function proveWrites(db: Database, gatewayId: string | undefined): Promise<void> {
  await db.transaction((tx) =>
    gatewayId === undefined ? tx.run(embeddedRow, { now: tx.now }) : tx.run(ownRow, { id: gatewayId }),
  )
}
