import type { Transaction } from './database.ts'
import { p, type SqlValue, type Statement, sql, statement } from './statement.ts'

/** How many rows one statement takes. Each size is prepared once. */
const chunks = [64, 8, 1] as const

/** Inserts rows of one table, many in a statement. */
export class RowsInsert {
  readonly #statements: ReadonlyMap<number, Statement<readonly SqlValue[]>>

  /** @param columns the table's own names, in the order of a row's values */
  constructor(table: string, columns: readonly string[]) {
    this.#statements = new Map(chunks.map((size) => [size, insertOf(table, columns, size)]))
  }

  async run(tx: Transaction, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const inserts: Promise<unknown>[] = []
    for (let at = 0; at < rows.length; ) {
      const size = chunks.find((one) => one <= rows.length - at)!
      inserts.push(tx.run(this.#statements.get(size)!, rows.slice(at, at + size).flat()))
      at += size
    }
    await Promise.all(inserts)
  }
}

function insertOf(table: string, columns: readonly string[], size: number): Statement<readonly SqlValue[]> {
  const rows = Array.from({ length: size }, (_, row) => {
    const values = columns.map((_name, column) => p(String(row * columns.length + column)))
    return sql`(${sql.join(values, sql`, `)})`
  })
  return statement(
    sql`insert into ${sql.raw(table)} (${sql.raw(columns.join(', '))}) values ${sql.join(rows, sql`, `)}`,
  )
}
