import { PgDialect } from 'drizzle-orm/pg-core'
import { type Binding, bindingOf, bindValues } from '../bind.ts'
import type { SqlValue, Statement } from '../statement.ts'

const dialect = new PgDialect()

/** A statement with its values, in the form of node-postgres: prepared under its name, once for each connection. */
export interface Query {
  readonly name: string
  readonly text: string
  readonly values: SqlValue[]
  readonly isFirst: boolean
  /** True when it locks rows until the transaction ends: it changes them, or reads them with a lock. */
  readonly locksRows: boolean
}

interface Compiled {
  readonly name: string
  readonly text: string
  readonly isFirst: boolean
  readonly locksRows: boolean
  readonly binding: Binding
}

const compiled = new WeakMap<Statement, Compiled>()
let count = 0

/** Throws a TypeError that names a missing parameter. */
export function toQuery<Params extends object>(statement: Statement<Params, unknown>, params: Params): Query {
  const { name, text, isFirst, locksRows, binding } = compile(statement as Statement)
  return { name, text, isFirst, locksRows, values: bindValues(binding, params) }
}

/** True when a query changes rows. Its result then counts changed rows, or returns them (`returning`). */
export function isWrite({ text }: Query): boolean {
  return !/^\s*(select|with)\b/i.test(text)
}

function compile(statement: Statement): Compiled {
  const known = compiled.get(statement)
  if (known) return known
  const { sql, params } = dialect.sqlToQuery(statement.sql)
  const text = uncomment(statement.locks === undefined ? sql : `${sql} for update`)
  const made = {
    name: `rouse_${++count}`,
    text,
    isFirst: statement.isFirst ?? false,
    locksRows: /\b(insert|update|delete)\b/i.test(text),
    binding: bindingOf(params),
  }
  compiled.set(statement, made)
  return made
}

/** Activates the clauses that are comments for the embedded store, and writes those of `inOnce`. */
function uncomment(text: string): string {
  return text
    .replaceAll(/\/\*postgres (.*?)\*\//g, '$1')
    .replaceAll('/*array*/in (', '= any (array(')
    .replaceAll('/*array*/)', '))')
}
