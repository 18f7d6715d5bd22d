import { type Placeholder, type SQL, sql } from 'drizzle-orm'

/** A value that both engines store as it is. Booleans are 0 and 1, instants are milliseconds, JSON is text. */
export type SqlValue = string | number | null

/**
 * One SQL text with named parameters, written once for both engines and prepared once for each connection.
 * `Row` is the shape that comes back, with columns aliased to the names the code uses.
 */
export interface Statement<Params extends object = object, Row = unknown> {
  readonly sql: SQL
  /** Set where the row that is read stays the reader's until its transaction ends: the name of the table. */
  readonly locks?: string
  /** Set where it takes the log of a project until its transaction ends. */
  readonly takesLog?: boolean
  /** Set where nobody who reads much may make it wait. */
  readonly isFirst?: boolean
  /** Never set: carries the types. */
  readonly types?: (params: Params) => Row
}

/** Declares a statement. Parameters are written `${p('name')}`. */
export function statement<Params extends object, Row = never>(text: SQL): Statement<Params, Row> {
  return { sql: text }
}

/**
 * Declares a statement that reads one row by its `id` in order to change it: nobody else changes it, or reads it so, before
 * the transaction is over. What the transaction read of that row before is old; read it again behind the lock.
 */
export function lockingStatement<Params extends { id: string }, Row = never>(
  table: string,
  text: SQL,
): Statement<Params, Row> {
  return { sql: text, locks: table }
}

/** A statement that takes the log of a project: whoever appends to it waits until the transaction is over. */
export function takingLog<Params extends object, Row>(declared: Statement<Params, Row>): Statement<Params, Row> {
  return { ...declared, takesLog: true }
}

/** A statement that is read before those that wait for a connection: what every request begins with. */
export function readFirst<Params extends object, Row>(declared: Statement<Params, Row>): Statement<Params, Row> {
  return { ...declared, isFirst: true }
}

/** Of rows that another gateway is changing: leave them to it. What only PostgreSQL knows is a comment to the embedded store. */
export const skipLocked: SQL = sql.raw('/*postgres for update skip locked */')
/** Nobody else changes the row before this transaction is over. */
export const forUpdate: SQL = sql.raw('/*postgres for no key update */')

/** A named parameter of a statement. */
export const p = (name: string): Placeholder => sql.placeholder(name)

/** At most `limit` rows. The cast is for SQLite: it plans a statement anew each time that a bare parameter limits it. */
export const limited: SQL = sql`limit cast(${p('limit')} as bigint)`

/** A condition on rows that are looked up by their key. PostgreSQL takes a bare one for so rare that it looks for the rows by it. */
export const lateFilter = (condition: SQL): SQL => sql`case when ${condition} then true else false end`

export { type SQL, sql }
