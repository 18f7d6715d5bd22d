import { type Placeholder, type SQL, sql } from 'drizzle-orm'

/** A value that both engines store as it is. Booleans are 0 and 1, instants are milliseconds, JSON is text. */
export type SqlValue = string | number | null

/**
 * One SQL text with named parameters, written once for both engines and prepared once for each connection.
 * `Row` is the shape that comes back, with columns aliased to the names the code uses.
 */
export interface Statement<Params extends object = object, Row = unknown> {
  readonly sql: SQL
  /** Never set: carries the types. */
  readonly types?: (params: Params) => Row
}

/** Declares a statement. Parameters are written `${p('name')}`. */
export function statement<Params extends object, Row = never>(text: SQL): Statement<Params, Row> {
  return { sql: text }
}

/** A named parameter of a statement. */
export const p = (name: string): Placeholder => sql.placeholder(name)

export { type SQL, sql }
