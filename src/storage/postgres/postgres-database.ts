import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { inCall } from '../as-call.ts'
import type { Database, NoteCommit, Transaction } from '../database.ts'
import { type Statement, sql, statement } from '../statement.ts'
import { connectionOptions } from './connection-options.ts'
import { GroupCommit } from './group-commit.ts'
import { isMigrated, migrate } from './migrate.ts'
import { openingProblem } from './opening-problem.ts'
import { toQuery } from './query.ts'
import { ReadPool } from './read-pool.ts'
import { refuseTransactionPooler } from './transaction-pooler.ts'
import { WriteConnection } from './write-connection.ts'

/** How many groups of writers run at the same time. At their ends they still wait for each other, at the project's log. */
const writersMax = 3

const databaseSize = statement<object, { size: number }>(sql`select pg_database_size(current_database()) as "size"`)

const tableId = statement<object, { id: string }>(sql`select cast(cast('project' as regclass) as oid)::text as "id"`)
const timeline = statement<object, { id: string }>(
  sql`select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as "id"`,
)

/**
 * A store that several gateways share: a few connections for writing, which the group commit uses, and a pool for reading. A
 * connection that broke is opened again when it is needed.
 */
export class PostgresDatabase implements Database {
  readonly isRemote = true
  readonly #reads: ReadPool
  readonly #writers: WriteConnection[]
  readonly #commits: GroupCommit
  #closing: Promise<void> | undefined

  private constructor(url: string, clock: Clock, noteCommit?: NoteCommit) {
    const options = connectionOptions(url)
    this.#reads = new ReadPool(options)
    this.#writers = Array.from({ length: writersMax }, () => new WriteConnection(options, () => this.#renewReads()))
    this.#commits = new GroupCommit(this.#writers, clock, noteCommit)
  }

  /**
   * Connects, and migrates the schema to this build.
   * @param url `postgres://user@host/database`, with the parameters of libpq's URLs
   */
  static async open(url: string, clock: Clock, noteCommit?: NoteCommit): Promise<PostgresDatabase> {
    const db = new PostgresDatabase(url, clock, noteCommit)
    try {
      // The connections that ask are those that write later. Most starts migrate nothing, and open no other for it.
      const [one, other] = db.#writers as [WriteConnection, WriteConnection]
      await refuseTransactionPooler(one, other)
      if (!(await isMigrated(one))) await migrate(url, clock.now())
    } catch (error) {
      await db.close()
      throw openingProblem(error)
    }
    return db
  }

  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    return this.#read(statement, params)
  }

  async get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | undefined> {
    return (await this.#read(statement, params))[0]
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return inCall(work, (joined) => this.#commits.transaction(joined))
  }

  async size(): Promise<number> {
    const [row] = await this.#read(databaseSize, {})
    return row!.size
  }

  /** The table, and the timeline where the server says it: a dump makes the one anew, a recovery to a point in time the other. */
  async place(): Promise<{ was: string; is: string }> {
    const [row] = await this.#read(tableId, {})
    const [line] = await this.#read(timeline, {}).catch(() => [])
    const is = `postgres:${row!.id}.${line?.id ?? ''}`
    return { was: is, is }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #read<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    // A request that is still running when the store closes gets an error.
    if (this.#closing) throw new Problem('storage-unavailable', { detail: 'The store is closed.' })
    return (await this.#reads.rows(toQuery(statement, params))) as Row[]
  }

  /** After a writing connection broke, the reading connections may lead to the same dead server, or to an old primary. */
  #renewReads(): void {
    if (!this.#closing) this.#reads.renew()
  }

  async #close(): Promise<void> {
    await this.#commits.close()
    await this.#reads.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
