import type { Bus } from '../../src/cluster/bus/bus.ts'
import { Problem } from '../../src/errors.ts'
import { inCall } from '../../src/storage/as-call.ts'
import type { BeforeCommit, Database, Transaction } from '../../src/storage/database.ts'
import { uncertain } from '../../src/storage/postgres/storage-problem.ts'
import type { Statement } from '../../src/storage/statement.ts'
import type { Chance } from './chance.ts'
import type { SimulatedStore } from './disk.ts'
import type { Process } from './process.ts'
import type { Realm } from './realm.ts'

const unreachable = (): Problem => new Problem('storage-unavailable', { detail: 'The database cannot be reached.' })

/**
 * The store of several gateways, as one of them reaches it. Transactions run one after the other, each as a whole: PostgreSQL lets more happen between two
 * statements, so what this finds is a fault there too, and what it does not find may be one.
 */
export class RemoteStore implements Database {
  readonly isRemote = true
  readonly #server: SimulatedStore
  readonly #process: Process
  readonly #delay: () => Promise<void>
  readonly #closings = new WeakMap<BeforeCommit<never>, BeforeCommit<never>>()

  constructor(server: SimulatedStore, process: Process, delay: () => Promise<void>) {
    this.#server = server
    this.#process = process
    this.#delay = delay
  }

  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    return this.#overThere(() => this.#server.all(statement, params), unreachable)
  }

  get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | undefined> {
    return this.#overThere(() => this.#server.get(statement, params), unreachable)
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return inCall(work, (joined) =>
      this.#overThere(
        () => this.#server.serve((tx) => joined(this.#seen(tx))),
        () => uncertain(new Error('the connection broke')),
      ),
    )
  }

  async size(): Promise<number> {
    return 0
  }

  async place(): Promise<{ was: string; is: string }> {
    return { was: '', is: '' }
  }

  async close(): Promise<void> {}
  abandon(): void {}
  async [Symbol.asyncDispose](): Promise<void> {}

  /** @param lost makes the error for an answer that does not arrive */
  async #overThere<T>(work: () => Promise<T>, lost: () => Problem): Promise<T> {
    const process = this.#process
    if (process.isCut) throw unreachable()
    await this.#delay()
    const answer = work()
    await answer.catch(() => {})
    await this.#delay()
    await process.running()
    if (process.isCut) throw lost()
    return answer
  }

  /** A transaction has the time of its own gateway. One whose gateway ends before the last statement is rolled back. */
  #seen(tx: Transaction, isLast = false): Transaction {
    const process = this.#process
    const reached = (): Transaction => {
      if (isLast) return tx
      process.tick()
      if (process.isGone) throw new Error('This process is gone.')
      if (process.isCut) throw unreachable()
      return tx
    }
    return {
      now: process.clock.now(),
      get hasWritten() {
        return tx.hasWritten
      },
      all: async (statement, params) => reached().all(statement, params),
      get: async (statement, params) => reached().get(statement, params),
      run: async (statement, params) => reached().run(statement, params),
      onCommit: (work) => tx.onCommit(() => process.run(work)),
      beforeCommit: (closing, item) => tx.beforeCommit(this.#closing(closing), item),
    }
  }

  /** The same for what ends a transaction: one for each kind of end, because that runs once with all of its items. */
  #closing<Item>(closing: BeforeCommit<Item>): BeforeCommit<Item> {
    const known = this.#closings.get(closing as BeforeCommit<never>) as BeforeCommit<Item> | undefined
    if (known) return known
    const seen = Object.assign(
      (tx: Transaction, items: readonly Item[]) => closing(this.#seen(tx, true), items),
      closing,
    )
    this.#closings.set(closing as BeforeCommit<never>, seen as BeforeCommit<never>)
    return seen
  }
}

/** What carries messages between gateways: late, twice, in another order, or not at all. */
export class Hub {
  /** How many of ten messages are lost. */
  lost = 0
  readonly #listeners = new Map<Process, (message: string) => void>()
  readonly #realm: Realm
  readonly #chance: Chance

  constructor(realm: Realm, chance: Chance) {
    this.#realm = realm
    this.#chance = chance
  }

  busOf(process: Process): Bus {
    return {
      failure: 'lost',
      start: async (onMessage) => void this.#listeners.set(process, onMessage),
      publish: async (message) => this.#carry(message),
      reconnect() {},
      [Symbol.asyncDispose]: async () => void this.#listeners.delete(process),
    }
  }

  #carry(message: string): void {
    for (const [process, hear] of this.#listeners) {
      const copies = this.#chance.isLess(this.lost / 10) ? 0 : this.#chance.isLess(0.1) ? 2 : 1
      for (let copy = 0; copy < copies; copy++) {
        const late = this.#chance.isLess(0.7) ? 0 : this.#chance.below(200)
        this.#realm.after(late, () => process.run(() => hear(message)))
      }
    }
  }
}
