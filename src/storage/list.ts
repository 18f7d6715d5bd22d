import { batchesOf, batchSizes, bySize } from './batch-sizes.ts'
import type { Reader, Transaction } from './database.ts'
import { locking, p, type SQL, type SqlValue, type Statement, sql, statement } from './statement.ts'

type Values = Record<string, SqlValue>

/** A statement over a list of values: `… where id in (${list})`. */
export class ListStatement<Params extends object, Row = never> {
  readonly #ofSize: (size: number) => Statement<Values, Row>

  constructor(text: (list: SQL) => SQL) {
    this.#ofSize = bySize((size) => {
      const values = Array.from({ length: size }, (_, index) => p(`item${index}`))
      return statement<Values, Row>(text(sql.join(values, sql`, `)))
    })
  }

  async run(tx: Transaction, params: Params, list: readonly SqlValue[]): Promise<void> {
    await Promise.all(batchesOf(list).map((piece) => tx.run(this.#of(piece), withItems(params, piece))))
  }

  /** Returns the rows, in no order. */
  async all(db: Reader, params: Params, list: readonly SqlValue[]): Promise<Row[]> {
    const pieces = batchesOf(list)
    const read = (piece: readonly SqlValue[]) => db.all(this.#of(piece), withItems(params, piece))
    return pieces.length === 1 ? read(pieces[0]!) : (await Promise.all(pieces.map(read))).flat()
  }

  #of(piece: readonly SqlValue[]): Statement<Values, Row> {
    return this.#ofSize(piece.length)
  }
}

/**
 * A statement that reads and locks rows of a table by their ids: no other transaction changes or locks them before this one ends.
 * `rows` is the SQL without its condition. They are locked in the order of their ids, so that two transactions lock them in one order.
 */
export class LockingListStatement<Row> {
  readonly #ofSize: (size: number) => Statement<Values, Row>

  constructor(table: string, rows: SQL) {
    this.#ofSize = bySize((size) => {
      const ids = Array.from({ length: size }, (_, index) => p(`item${index}`))
      const text = sql`${rows} where id in (${sql.join(ids, sql`, `)}) order by id`
      return locking(statement<Values, Row>(text), { table, ids: (params) => [...new Set(Object.values(params))] })
    })
  }

  /** Locks the rows, as few statements as there can be: a writer that has locked rows does not wait for others. Returns them by id. */
  async all(tx: Transaction, ids: readonly string[]): Promise<Row[]> {
    const sorted = [...new Set(ids)].sort()
    const found: Row[] = []
    for (let at = 0; at < sorted.length; at += batchSizes[0]) {
      const piece = sorted.slice(at, at + batchSizes[0])
      const size = batchSizes.findLast((one) => one >= piece.length)!
      // An id may be there several times.
      const filled = Array.from({ length: size }, (_, index) => piece[Math.min(index, piece.length - 1)]!)
      found.push(...(await tx.all(this.#ofSize(size), withItems({}, filled))))
    }
    return found
  }
}

function withItems(params: object, piece: readonly SqlValue[]): Values {
  const values: Values = {}
  for (const [index, value] of piece.entries()) values[`item${index}`] = value
  return Object.assign(values, params)
}
