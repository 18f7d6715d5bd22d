import { batchesOf, batchSizes } from './batch-sizes.ts'
import type { Reader, Transaction } from './database.ts'
import { p, type SQL, type SqlValue, type Statement, sql, statement } from './statement.ts'

type Values = Record<string, SqlValue>

/** A statement over a list of values: `… where id in (${list})`. */
export class ListStatement<Params extends object, Row = never> {
  readonly #statements: ReadonlyMap<number, Statement<Values, Row>>

  constructor(text: (list: SQL) => SQL) {
    const ofSize = (size: number): Statement<Values, Row> => {
      const values = Array.from({ length: size }, (_, index) => p(`item${index}`))
      return statement<Values, Row>(text(sql.join(values, sql`, `)))
    }
    this.#statements = new Map(batchSizes.map((size) => [size, ofSize(size)]))
  }

  async run(tx: Transaction, params: Params, list: readonly SqlValue[]): Promise<void> {
    const running: Promise<unknown>[] = []
    for (const piece of batchesOf(list)) running.push(tx.run(this.#of(piece), withItems(params, piece)))
    await Promise.all(running)
  }

  /** Returns the rows, in no order. */
  async all(db: Reader, params: Params, list: readonly SqlValue[]): Promise<Row[]> {
    const reading: Promise<Row[]>[] = []
    for (const piece of batchesOf(list)) reading.push(db.all(this.#of(piece), withItems(params, piece)))
    return (await Promise.all(reading)).flat()
  }

  #of(piece: readonly SqlValue[]): Statement<Values, Row> {
    return this.#statements.get(piece.length)!
  }
}

function withItems(params: object, piece: readonly SqlValue[]): Values {
  const values: Values = {}
  for (const [index, value] of piece.entries()) values[`item${index}`] = value
  return Object.assign(values, params)
}
