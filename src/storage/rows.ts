import { batchesOf, bySize } from './batch-sizes.ts'
import type { Reader, Transaction } from './database.ts'
import { p, type SQL, type SqlValue, type Statement, sql, statement } from './statement.ts'

type Row = readonly SqlValue[]

/** A statement that takes many rows at once. */
export class RowsStatement<Answer = never> {
  readonly #ofSize: (size: number) => Statement<Row, Answer>

  /**
   * @param row the SQL of one row, in the order of its values: `value(0), cast(value(1) as bigint)`
   * @param text the statement that contains the list of rows
   */
  constructor(row: (value: (column: number) => SQL) => SQL, columnCount: number, text: (rows: SQL) => SQL) {
    const rowAt = (index: number): SQL => sql`(${row((column) => sql`${p(String(index * columnCount + column))}`)})`
    this.#ofSize = bySize((size) => {
      const rows = Array.from({ length: size }, (_, index) => rowAt(index))
      return statement<Row, Answer>(text(sql.join(rows, sql`, `)))
    })
  }

  async run(tx: Transaction, rows: readonly Row[]): Promise<void> {
    const pieces = batchesOf(rows)
    const send = (piece: readonly Row[]) => tx.run(this.#ofSize(piece.length), valuesOf(piece))
    if (pieces.length === 1) await send(pieces[0]!)
    else await Promise.all(pieces.map(send))
  }

  /** Returns the rows that the statement returns, in no order. */
  async all(db: Reader, rows: readonly Row[]): Promise<Answer[]> {
    const pieces = batchesOf(rows)
    const send = (piece: readonly Row[]) => db.all(this.#ofSize(piece.length), valuesOf(piece))
    return pieces.length === 1 ? send(pieces[0]!) : (await Promise.all(pieces.map(send))).flat()
  }
}

/** `flat()` costs several times as much. */
function valuesOf(rows: readonly Row[]): SqlValue[] {
  if (rows.length === 1) return rows[0] as SqlValue[]
  const values: SqlValue[] = []
  for (const row of rows) for (const value of row) values.push(value)
  return values
}

/** Inserts rows of one table. `columns` are the table's own names, in the order of a row's values. */
export function rowsInsert(table: string, columns: readonly string[]): RowsStatement {
  return new RowsStatement(
    (value) =>
      sql.join(
        columns.map((_, column) => value(column)),
        sql`, `,
      ),
    columns.length,
    (rows) => sql`insert into ${sql.raw(table)} (${sql.raw(columns.join(', '))}) values ${rows}`,
  )
}
