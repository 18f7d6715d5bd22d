import { PgDialect } from 'drizzle-orm/pg-core'
import { type Binding, bindingOf, bindValues } from '../bind.ts'
import type { SqlValue, Statement } from '../statement.ts'

const dialect = new PgDialect()

/** A statement with its values, as node-postgres takes it: prepared under its name, once for each connection. */
export interface Query {
  readonly name: string
  readonly text: string
  readonly values: SqlValue[]
  readonly isFirst: boolean
  /** Whether it takes rows that others may wait for until the transaction ends: it changes them, or reads them with a lock. */
  readonly takesRows: boolean
}

interface Compiled {
  readonly name: string
  readonly text: string
  readonly isFirst: boolean
  readonly takesRows: boolean
  readonly binding: Binding
}

const compiled = new WeakMap<Statement, Compiled>()
let count = 0

/** Throws a TypeError that names a parameter which is missing. */
export function toQuery<Params extends object>(statement: Statement<Params, unknown>, params: Params): Query {
  const { name, text, isFirst, takesRows, binding } = compile(statement as Statement)
  return { name, text, isFirst, takesRows, values: bindValues(binding, params) }
}

/** Whether a query changes rows when it answers some: a `returning` counts as well as a count. */
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
    takesRows: /\b(insert|update|delete)\b/i.test(text),
    binding: bindingOf(params),
  }
  compiled.set(statement, made)
  return made
}

/** Brings in the clauses that the embedded store takes for comments. */
function uncomment(text: string): string {
  return text.replaceAll(/\/\*postgres (.*?)\*\//g, '$1')
}
