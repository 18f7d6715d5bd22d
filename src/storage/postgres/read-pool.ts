import pg from 'pg'
import { silenceMs } from './connection-options.ts'
import type { Query } from './query.ts'
import { ReadLine } from './read-line.ts'
import { isConnectionLost, storageProblem } from './storage-problem.ts'

/** How many reads of one gateway run at the same time; the others wait. The server has a limited number for all gateways. */
const readersMax = 8
/** One of them is for what goes first: however much is read, nobody waits for its key to be looked up. */
const readersKept = 1
/** A connection that nobody needed for so long is given back. */
const idleMs = 60_000

/** The reading side: connections that come and go with the need. A read whose connection breaks is asked once more. */
export class ReadPool {
  readonly #options: pg.PoolConfig
  readonly #line = new ReadLine(readersMax, readersKept)
  #pool: pg.Pool

  constructor(options: pg.ClientConfig) {
    this.#options = { ...options, max: readersMax, query_timeout: silenceMs, idleTimeoutMillis: idleMs }
    this.#pool = this.#open()
  }

  rows(query: Query): Promise<unknown[]> {
    return this.#line.run(query.isFirst, () => this.#read(query))
  }

  async #read(query: Query): Promise<unknown[]> {
    const pool = this.#pool
    try {
      try {
        return (await pool.query(query)).rows
      } catch (error) {
        if (!isConnectionLost(error)) throw error
        return (await this.#pool.query(query)).rows
      }
    } catch (error) {
      throw storageProblem(error)
    }
  }

  /** Lets go of all connections, so that the next reads find the server that is there now. */
  renew(): void {
    const old = this.#pool
    this.#pool = this.#open()
    void old.end()
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  #open(): pg.Pool {
    const pool = new pg.Pool(this.#options)
    // An idle connection that breaks is replaced when it is needed.
    pool.on('error', () => {})
    return pool
  }
}
