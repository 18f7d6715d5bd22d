import pg from 'pg'
import type { Clock } from '../../lib/clock.ts'
import { type LogHead, logHeadsSql, migrationTable, type Table, type TableRow } from '../table.ts'
import { connectionOptions } from './connection-options.ts'
import { PostgresDatabase } from './postgres-database.ts'

/** How long to wait for a table lock. A table that is locked for longer is used by a running program. */
const lockMs = 2_000

/**
 * A PostgreSQL store that is filled from another store in one transaction: it gets all rows or none. Its tables are locked
 * meanwhile, so a gateway that starts too early waits and gives up.
 */
export class NewStore implements AsyncDisposable {
  readonly #client: pg.Client
  readonly #types = new Map<string, string>()

  private constructor(client: pg.Client) {
    this.#client = client
  }

  /** Creates the schema of this build where it is missing. */
  static async open(url: string, clock: Clock): Promise<NewStore> {
    await (await PostgresDatabase.open(url, clock)).close()
    const patient = { statement_timeout: 0, idle_in_transaction_session_timeout: 0, lock_timeout: lockMs }
    const client = new pg.Client({ ...connectionOptions(url), ...patient, application_name: 'rouse migrate' })
    // The query without an answer is rejected by the driver. Without a listener the error would be an uncaught exception.
    client.on('error', () => {})
    await client.connect()
    return new NewStore(client)
  }

  async tables(): Promise<Table[]> {
    const { rows } = await this.#client.query<{ table: string; column: string; type: string }>(
      `select c.relname as "table", a.attname as "column", format_type(a.atttypid, a.atttypmod) as "type"
        from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relname <> $1
          and a.attnum > 0 and not a.attisdropped
        order by c.relname collate "C", a.attname collate "C"`,
      [migrationTable],
    )
    for (const { table, column, type } of rows) this.#types.set(`${table}.${column}`, type)
    const names = [...new Set(rows.map(({ table }) => table))]
    return names.map((name) => ({
      name,
      columns: rows.filter(({ table }) => table === name).map(({ column }) => column),
    }))
  }

  /** Begins the transaction and locks all tables. Rejects if a table is in use, or if one has a row. */
  async begin(tables: readonly Table[]): Promise<void> {
    await this.#client.query('begin')
    try {
      await this.#client.query(
        `lock table ${tables.map(({ name }) => `"${name}"`).join(', ')} in access exclusive mode`,
      )
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error
      throw new Error('The target is in use: a gateway runs on it, or another copy. Stop it and try again.', {
        cause: error,
      })
    }
    const filled: string[] = []
    for (const { name } of tables) {
      const rows = await this.count(name)
      if (rows > 0) filled.push(`${name} (${rows})`)
    }
    if (filled.length === 0) return
    throw new Error(
      `The target already has data: ${filled.join(', ')}. Nothing was copied. Use an empty database: createdb --encoding UTF8 --template template0 <name>`,
    )
  }

  /** Inserts rows in one statement; a few thousand at a time are a good size. */
  async insert({ name, columns }: Table, rows: readonly TableRow[]): Promise<void> {
    const list = columns.map((column) => `"${column}"`).join(', ')
    const arrays = columns.map((column, i) => `$${i + 1}::${this.#types.get(`${name}.${column}`)}[]`).join(', ')
    const values = columns.map((_column, i) => rows.map((row) => row[i]))
    await this.#client.query({ text: `insert into "${name}" (${list}) select * from unnest(${arrays})`, values })
  }

  async count(table: string): Promise<number> {
    return (await this.#client.query(`select count(*) as rows from "${table}"`)).rows[0].rows
  }

  async logHeads(): Promise<LogHead[]> {
    return (await this.#client.query(logHeadsSql)).rows
  }

  /** The store is complete when this resolves. */
  async commit(): Promise<void> {
    await this.#client.query('commit')
    // Without statistics the planner would not know the size of the tables at the first queries.
    await this.#client.query('analyze')
  }

  /** Leaves no row. If the connection is lost, the server has rolled back already. */
  async rollBack(): Promise<void> {
    await this.#client.query('rollback').catch(() => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}
