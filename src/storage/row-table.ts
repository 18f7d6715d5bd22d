import type { Column, Columns, NounOf, RowOf } from './columns.ts'
import { type RowsStatement, rowsInsert } from './rows.ts'
import { p, type SQL, type SqlValue, type Statement, sql, statement } from './statement.ts'

/** The lists of columns that the statements about a table have in common, and the way between its rows and its nouns. It builds no query. */
export class RowTable<Read extends Columns, Written extends Columns = Record<never, never>> {
  /** Every column that is read, under the name of its field, for `select` and `returning`. */
  readonly columns: SQL
  readonly #name: string
  readonly #read: Read
  readonly #columns: Columns
  readonly #fields: readonly string[]
  readonly #toRead: readonly (readonly [field: string, form: Column['form']])[]

  /**
   * @param read the columns of the noun
   * @param written columns that are written with a new row, and are not read with it
   */
  constructor(name: string, read: Read, written = {} as Written) {
    this.#name = name
    this.#read = read
    this.#columns = { ...read, ...written }
    this.#fields = Object.keys(this.#columns)
    this.#toRead = Object.entries(read).flatMap(([field, { form }]) =>
      form === 'plain' ? [] : [[field, form] as const],
    )
    this.columns = this.select('')
  }

  /** Lists columns of the table by its alias in a statement; `''`: it has none. Without fields, all that are read. */
  select(alias: string, ...fields: readonly (keyof Read & string)[]): SQL {
    const prefix = alias && `${alias}.`
    const listed = fields.length > 0 ? fields : Object.keys(this.#read)
    const named = (field: string, name: string) =>
      name === field ? `${prefix}${name}` : `${prefix}${name} as "${field}"`
    return sql.raw(listed.map((field) => named(field, this.#nameOf(field))).join(', '))
  }

  /** Declares the statement that inserts a whole row. `end`: what follows its values, such as `on conflict … do nothing`. */
  insert(end: SQL = sql``): Statement<RowOf<Read & Written>> {
    const values = list(this.#fields.map((field) => p(field)))
    return statement(sql`insert into ${sql.raw(this.#name)} (${sql.raw(this.#names())}) values (${values}) ${end}`)
  }

  /** The same for many rows, each as `valuesOf` lists it. */
  insertRows(end?: SQL): RowsStatement {
    return rowsInsert(this.#name, this.#names(), end)
  }

  /** Lists the values of a row in the order of the columns. */
  readonly valuesOf = (row: RowOf<Read & Written>): SqlValue[] => {
    const values: Readonly<Record<string, SqlValue>> = row
    const listed: SqlValue[] = []
    for (const field of this.#fields) listed.push(values[field]!)
    return listed
  }

  /** Sets all columns but some to the parameters of their names, for `update`. */
  setAllBut(...kept: readonly (keyof Read & string)[]): SQL {
    const fields: readonly string[] = Object.keys(this.#read).filter((field) => !kept.includes(field))
    return list(fields.map((field) => sql`${sql.raw(this.#nameOf(field))} = ${p(field)}`))
  }

  /** Returns the row of a noun, which does not change. */
  readonly toRow = (noun: NounOf<Read>): RowOf<Read> => {
    const row: Record<string, unknown> = { ...noun }
    for (const [field, form] of this.#toRead) {
      const value = row[field]
      if (value !== null) row[field] = form === 'flag' ? Number(value) : JSON.stringify(value)
    }
    return row as RowOf<Read>
  }

  /** Makes a row its noun, in place: a copy costs more than to read its JSON. A row that others hold is to be copied before. */
  readonly fromRow = (row: RowOf<Read>): NounOf<Read> => {
    const noun = row as Record<string, unknown>
    for (const [field, form] of this.#toRead) {
      const stored = noun[field]
      if (stored !== null) noun[field] = form === 'flag' ? stored !== 0 : fromJson(stored as string)
    }
    return noun as NounOf<Read>
  }

  #names(): string {
    return this.#fields.map((field) => this.#nameOf(field)).join(', ')
  }

  #nameOf(field: string): string {
    return this.#columns[field]!.name ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  }
}

const list = (parts: Parameters<typeof sql.join>[0]): SQL => sql.join(parts, sql`, `)

/** Most lists are empty. */
const fromJson = (text: string): unknown => (text === '[]' ? [] : JSON.parse(text))
