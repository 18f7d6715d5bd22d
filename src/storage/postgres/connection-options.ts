import pg from 'pg'

/** How long a connection may take to open. */
const connectMs = 5_000
/** The longest statement, enforced by the server. A connection that is silent for longer than this, plus a margin, is dead. */
const statementMs = 10_000
export const silenceMs = 15_000

/** Every statement has an index. A plan that was made for a small table would otherwise still scan it when it is large. */
const plannerOptions = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off'

/** The settings of a connection. Parameters of the URL override them. */
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
    // A transaction that holds a row for longer than this is stuck.
    lock_timeout: 5_000,
    // Shorter than the lock timeout: if a gateway is paused or cut off in a transaction, its locks (above all that of the log) are
    // released before the others give up.
    idle_in_transaction_session_timeout: 4_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
  }
}

type TypeParser = (text: string) => unknown

/** The same values as from the embedded store: integers are numbers (all are below 2^53), and booleans are 1 or 0. */
const parsers: Record<number, TypeParser> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: Number,
  [pg.types.builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
}

function getTypeParser(oid: number): TypeParser {
  return parsers[oid] ?? pg.types.getTypeParser(oid, 'text')
}
