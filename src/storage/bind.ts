import { is, Placeholder } from 'drizzle-orm'
import type { SqlValue } from './statement.ts'

/** The source of one value of a statement: a parameter, by name or index, or the statement itself. */
interface Slot {
  readonly key: string | number | undefined
  readonly value: SqlValue
}

export type Binding = readonly Slot[]

/** The values of a compiled statement as drizzle lists them: placeholders and constants. */
export function bindingOf(listed: readonly unknown[]): Binding {
  return listed.map((entry) =>
    is(entry, Placeholder) ? { key: placeOf(entry.name), value: null } : { key: undefined, value: entry as SqlValue },
  )
}

/** Parameters may be a list: then their names are their indexes. */
const placeOf = (name: string): string | number => (/^\d+$/.test(name) ? Number(name) : name)

/** Throws a TypeError that names a parameter that is missing, or no value of SQL. */
export function bindValues(binding: Binding, params: object): SqlValue[] {
  const values = new Array<SqlValue>(binding.length)
  for (let i = 0; i < values.length; i++) {
    const { key, value } = binding[i]!
    const given = key === undefined ? value : (params as Record<string | number, SqlValue | undefined>)[key]
    if (given === undefined) throw new TypeError(`The statement needs the parameter "${key}".`)
    // The drivers would take a list for several values, or for its text.
    if (typeof given === 'object' && given !== null && !ArrayBuffer.isView(given))
      throw new TypeError(`The parameter "${key}" of the statement is an object.`)
    values[i] = given
  }
  return values
}
