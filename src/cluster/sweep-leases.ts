import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

const take = statement<{
  name: string
  owner: string
  now: number
  until: number
}>(sql`insert into sweep (name, owner, until)
  values (${p('name')}, ${p('owner')}, ${p('until')})
  on conflict (name) do update set owner = excluded.owner, until = excluded.until
  where sweep.until <= ${p('now')} or sweep.owner = excluded.owner`)

/** How long a sweep lease lasts. The holder renews it before it ends; the others try again when it may have ended. */
const leaseMs = 20_000

/** Leases of the sweeps: of several gateways on one store, one at a time does each sweep. */
export class SweepLeases {
  readonly #db: Database
  readonly #owner: string
  readonly #clock: Clock
  readonly #known = new Map<string, { holds: boolean; until: number }>()

  constructor(db: Database, owner: string, clock: Clock) {
    this.#db = db
    this.#owner = owner
    this.#clock = clock
  }

  /** Whether this owner holds the lease of a sweep. Queries the store a few times a minute, however often it is called. */
  readonly holds = async (name: string): Promise<boolean> => {
    const known = this.#known.get(name)
    if (known && known.until > this.#clock.now()) return known.holds
    const holds = await this.#take(name)
    this.#known.set(name, { holds, until: this.#clock.now() + leaseMs / 2 })
    return holds
  }

  async #take(name: string): Promise<boolean> {
    const owner = this.#owner
    return (await this.#db.transaction((tx) => tx.run(take, { name, owner, now: tx.now, until: tx.now + leaseMs }))) > 0
  }
}
