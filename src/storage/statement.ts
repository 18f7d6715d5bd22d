import { type Placeholder, type SQL, sql } from 'drizzle-orm'

/**
 * A value that both engines store unchanged. Booleans are 0 and 1, instants are milliseconds, JSON is text. Bytes are of a text in UTF-8,
 * and the statement casts them.
 */
export type SqlValue = string | number | null | Buffer

/**
 * One SQL text with named parameters, written once for both engines and prepared once for each connection.
 * `Row` is the shape of a returned row, with columns aliased to the names that the code uses.
 */
export interface Statement<Params extends object = object, Row = unknown> {
  readonly sql: SQL
  /** The rows that the statement locks until the end of the transaction. */
  readonly locks?: LockedRows
  /** True when the statement locks the log of a project until the end of the transaction. */
  readonly takesLog?: boolean
  /** True when the statement goes before long reads. */
  readonly isFirst?: boolean
  /** True when nearly every request reads the same rows with it: an engine may keep them in memory while its tables do not change. */
  readonly isRemembered?: boolean
  /** Never set: it carries the types. */
  readonly types?: (params: Params) => Row
}

/** The rows of a table that a statement locks. */
interface LockedRows {
  readonly table: string
  /** Reads their ids from the parameters of the statement. */
  readonly ids: (params: object) => readonly string[]
}

/** Declares a statement. Parameters are written `${p('name')}`. */
export function statement<Params extends object, Row = never>(text: SQL): Statement<Params, Row> {
  return { sql: text }
}

/**
 * Declares a statement that reads and locks one row by its `id`: no other transaction changes or locks it before this one ends.
 * The transaction may have read older values of that row before; use those that this statement returns.
 */
export function lockingStatement<Params extends { id: string }, Row = never>(
  table: string,
  text: SQL,
): Statement<Params, Row> {
  return locking(statement(text), { table, ids: (params) => [(params as { id: string }).id] })
}

/** Declares a statement that locks rows as `lockingStatement` does. PostgreSQL locks them in the order in which it returns them. */
export function locking<Params extends object, Row>(
  declared: Statement<Params, Row>,
  locks: LockedRows,
): Statement<Params, Row> {
  return { ...declared, locks }
}

/** Declares a statement that locks the log of a project: other writers of the log wait until the transaction ends. */
export function takingLog<Params extends object, Row>(declared: Statement<Params, Row>): Statement<Params, Row> {
  return { ...declared, takesLog: true }
}

/** Declares a statement that goes before reads that wait for a connection: every request begins with it. */
export function readFirst<Params extends object, Row>(declared: Statement<Params, Row>): Statement<Params, Row> {
  return { ...declared, isFirst: true }
}

/** The tables that remembered statements read. A message changes nothing of them but the head of the log. */
export const rareTables: ReadonlySet<string> = new Set(['agent', 'agent_name', 'api_key', 'project'])

/** Declares a read of one row that nearly every request repeats. It reads `rareTables` only. */
export function remembered<Params extends object, Row>(declared: Statement<Params, Row>): Statement<Params, Row> {
  return { ...declared, isRemembered: true }
}

/** Skips rows that another gateway has locked. PostgreSQL only; a comment on SQLite. */
export const skipLocked: SQL = sql.raw('/*postgres for update skip locked */')
/** Locks the row until the transaction ends. PostgreSQL only; a comment on SQLite. */
export const forUpdate: SQL = sql.raw('/*postgres for no key update */')

/**
 * The condition that a column is among the ids of a subquery. PostgreSQL runs it once: a bare subquery it may run more than once, and skip other
 * locked rows each time. It then looks up each id, also where it takes the table for a small one.
 */
export const inOnce = (ids: SQL): SQL => sql`/*array*/in (${ids}/*array*/)`

/**
 * The value that a key is compared with in a join: `where id = ${joined('v.column1')}`. PostgreSQL then can only look it up. If it may compare two
 * columns, it reads a table that had few rows when it was counted from its beginning to its end, once for each value.
 */
export const joined = (column: string): SQL => sql.raw(`/*postgres any(array[*/${column}/*postgres ])*/`)

/** A named parameter of a statement. */
export const p = (name: string): Placeholder => sql.placeholder(name)

/** At most `limit` rows. */
export const limited: SQL = sql`limit ${p('limit')}`

/** A condition that is checked after rows were found by their key. PostgreSQL may take a bare condition for selective and search by it. */
export const lateFilter = (condition: SQL): SQL => sql`case when ${condition} then true else false end`

/** Part of an index: the column of the owner, and the column of the ids of its rows. */
interface OwnerIndex {
  readonly owner: string
  readonly id: string
}

/**
 * The rows of one owner whose ids are after one and before another; default: all. Order by both columns. With the owner alone as a condition,
 * PostgreSQL may walk over the rows of everybody in the order of the ids.
 */
export function ownedBetween(
  { owner, id }: OwnerIndex,
  value: Placeholder,
  { after = sql.raw("''"), before = sql.raw("'~'") }: { readonly after?: SQL; readonly before?: SQL } = {},
): SQL {
  const columns = sql.raw(`(${owner}, ${id})`)
  return sql`${columns} > (${value}, ${after}) and ${columns} < (${value}, ${before})`
}

export { type SQL, sql }
