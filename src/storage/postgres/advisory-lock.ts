import type { Clock } from '../../lib/clock.ts'
import type { Query } from './query.ts'

/** The first numbers of the advisory locks. Nothing else on the database may use them; the second number is the schema's. */
export const lockSpaces = { migration: 4520, rows: 4521 } as const

/** Long beside the second that a deadlock costs: a caller may cause deadlocks on purpose. */
const exclusiveMs = 5 * 60 * 1000

const lock = (name: string, call: string): Query => ({
  name,
  text: `select ${call}($1, hashtext(current_schema()))`,
  values: [lockSpaces.rows],
  isFirst: false,
  locksRows: false,
})
const shared = lock('rouse_rows_shared', 'pg_advisory_xact_lock_shared')
const exclusive = lock('rouse_rows_exclusive', 'pg_advisory_xact_lock')

/**
 * The lock that every group takes before its first row lock. It is shared, so the groups of several gateways lock rows at the same
 * time, and two of them can end in a deadlock. The gateway whose group PostgreSQL has ended then takes the lock exclusively for five
 * minutes: nobody else locks rows meanwhile, so its groups are in no other deadlock.
 */
export class RowsLock {
  readonly #clock: Clock
  #deadlockAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The statement that takes the lock until the transaction ends. */
  get query(): Query {
    const passed = this.#clock.now() - this.#deadlockAt
    return passed >= 0 && passed < exclusiveMs ? exclusive : shared
  }

  /** To be called when PostgreSQL has ended a group because of a deadlock. */
  deadlocked(): void {
    this.#deadlockAt = this.#clock.now()
  }
}
