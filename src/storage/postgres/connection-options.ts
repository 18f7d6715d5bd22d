import pg from 'pg'

/** A connection that does not come about within this time is given up. */
const connectMs = 5_000
/** The longest statement, enforced by the server. Beyond it, and some grace, a connection that says nothing is dead. */
const statementMs = 10_000
export const silenceMs = 15_000

/** Every statement has an index to read by, and a plan outlives the size that a table had when it was made. */
const plannerOptions = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off'

/** How the gateway connects. What the URL says of the same settings wins. */
export function connectionOptions(url: string): pg.ClientConfig {
  const address = new URL(url)
  const own = address.searchParams.get('options') ?? ''
  address.searchParams.delete('options')
  return {
    connectionString: address.href,
    options: `${plannerOptions} ${own}`,
    application_name: 'rouse',
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    // Whoever waits this long for a row waits for somebody who is stuck.
    lock_timeout: 5_000,
    // Below that: what a gateway holds that was paused or cut off in a transaction, above all the log, is free before the others give up.
    idle_in_transaction_session_timeout: 4_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
  }
}

type TypeParser = (text: string) => unknown

/** As the embedded store answers: integers are numbers (all of them are below 2^53), and truth is 1 or 0. */
const parsers: Record<number, TypeParser> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: Number,
  [pg.types.builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
}

function getTypeParser(oid: number): TypeParser {
  return parsers[oid] ?? pg.types.getTypeParser(oid, 'text')
}
