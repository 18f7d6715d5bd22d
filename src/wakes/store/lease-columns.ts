import { type SQL, sql } from '../../storage/statement.ts'

/** Ends the lease of a subscription: its run finds out when it records, and what it has leased up to is forgotten. */
export const endsLease: SQL = sql.raw('lease_owner = null, claimed_to_log_id = null')
