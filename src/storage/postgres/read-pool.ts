import pg from 'pg'
import { silenceMs } from './connection-options.ts'
import type { Query } from './query.ts'
import { isConnectionLost, storageProblem, whileConnecting } from './storage-problem.ts'

/** Runs a limited number of reads at a time. The others wait; reads that go first are run before them. */
export class ReadQueue {
  readonly #atOnce: number
  /** Places that are reserved for reads that go first. */
  readonly #reserved: number
  readonly #first: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #running = 0

  constructor(atOnce: number, reserved: number) {
    this.#atOnce = atOnce
    this.#reserved = reserved
  }

  async run<T>(isFirst: boolean, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#placesOf(isFirst)) this.#running++
    else await new Promise<void>((go) => (isFirst ? this.#first : this.#others).push(go))
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #placesOf(isFirst: boolean): number {
    return isFirst ? this.#atOnce : this.#atOnce - this.#reserved
  }

  /** A waiting read takes over the place. */
  #leave(): void {
    const next = this.#first.shift() ?? (this.#running <= this.#placesOf(false) ? this.#others.shift() : undefined)
    if (next) next()
    else this.#running--
  }
}

/** How many reads of one gateway run at the same time; the others wait. The server has a limited number for all gateways. */
const readersMax = 8
/** One of them is reserved for statements that go first: the look-up of a key never waits for long reads. */
const readersReserved = 1
/** A connection that was not used for this long is closed. */
const idleMs = 60_000

/** The reading side: a pool whose connections are opened and closed as needed. A read whose connection breaks is retried once. */
export class ReadPool {
  readonly #options: pg.PoolConfig
  readonly #queue = new ReadQueue(readersMax, readersReserved)
  #pool: pg.Pool

  constructor(options: pg.ClientConfig) {
    this.#options = { ...options, max: readersMax, query_timeout: silenceMs, idleTimeoutMillis: idleMs }
    this.#pool = this.#open()
  }

  rows(query: Query): Promise<unknown[]> {
    return this.#queue.run(query.isFirst, () => this.#read(query))
  }

  async #read(query: Query): Promise<unknown[]> {
    try {
      try {
        return await rowsFrom(this.#pool, query)
      } catch (error) {
        if (!isConnectionLost(error)) throw error
        return await rowsFrom(this.#pool, query)
      }
    } catch (error) {
      throw storageProblem(error)
    }
  }

  /** Replaces all connections, so that the next reads connect to the current server. */
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
    // An idle connection that breaks is replaced when it is needed. One in use rejects its query as well.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    return pool
  }
}

async function rowsFrom(pool: pg.Pool, query: Query): Promise<unknown[]> {
  const client = await whileConnecting(pool.connect())
  try {
    const { rows } = await client.query(query)
    client.release()
    return rows
  } catch (error) {
    client.release(true)
    throw error
  }
}
