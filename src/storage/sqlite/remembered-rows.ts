import type { Statement } from '../statement.ts'
import type { Connection } from './connection.ts'

/** The rows of one statement that are remembered at most; the oldest goes first. */
const rowsMax = 500

/**
 * The rows of the last commit that nearly every request reads: the holder of its key, and the agent that it calls. A statement that may
 * change one of their tables forgets all rows at once. Until its transaction has ended, reads go to the store and are not remembered.
 */
export class RememberedRows {
  readonly #writer: Connection
  readonly #rows = new Map<Statement, Map<string, unknown>>()
  #rareWrites = 0

  constructor(writer: Connection) {
    this.#writer = writer
  }

  /** @param read reads the row as the last commit has it */
  get<Params extends object, Row>(
    statement: Statement<Params, Row>,
    params: Params,
    read: () => Row | undefined,
  ): Row | undefined {
    const { rareWrites, raw } = this.#writer
    if (this.#rareWrites !== rareWrites) this.#rows.clear()
    this.#rareWrites = rareWrites
    const rows = this.#rowsOf(statement as Statement)
    const key = JSON.stringify(params)
    const known = rows.get(key) as Row | undefined
    if (known !== undefined) return known
    const row = read()
    if (row === undefined || raw.inTransaction) return row
    if (rows.size >= rowsMax) rows.delete(rows.keys().next().value!)
    rows.set(key, row)
    return row
  }

  #rowsOf(statement: Statement): Map<string, unknown> {
    const known = this.#rows.get(statement)
    if (known) return known
    const rows = new Map<string, unknown>()
    this.#rows.set(statement, rows)
    return rows
  }
}
