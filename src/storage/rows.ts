import { batchesOf, bySize } from './batch-sizes.ts'
import type { Reader, Transaction } from './database.ts'
import { p, type SQL, type SqlValue, type Statement, sql, statement } from './statement.ts'

type Row = readonly SqlValue[]

/** A statement that takes many rows at once. */
export class RowsStatement<Answer = never> {
  readonly #ofSize: (size: number) => Statement<Row, Answer>

  /**
   * @param types the types of a row's values: `text bigint bigint`. A parameter without a cast is a text, or what a column takes.
   * @param text the statement that contains the list of rows
   */
  constructor(types: string, text: (rows: SQL) => SQL) {
    const casts = types.split(' ').map((type) => type !== 'text')
    const rowAt = (index: number): SQL => {
      const values = casts.map((isCast, column) => {
        const value = p(String(index * casts.length + column))
        return isCast ? sql`cast(${value} as bigint)` : sql`${value}`
      })
      return sql`(${sql.join(values, sql`, `)})`
    }
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

/**
 * Inserts rows of one table.
 * @param columns the table's own names, in the order of a row's values: `id, created_at`
 * @param end what follows the values
 */
export function rowsInsert(table: string, columns: string, end = sql``): RowsStatement {
  const insert = sql.raw(`insert into ${table} (${columns}) values`)
  return new RowsStatement(columns.replace(/\w+,?/g, 'text'), (rows) => sql`${insert} ${rows} ${end}`)
}
