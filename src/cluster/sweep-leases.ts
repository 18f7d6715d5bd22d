import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

const take = statement<{
  name: string
  owner: string
  now: number
  until: number
  longest: number
}>(sql`insert into sweep (name, owner, until)
  values (${p('name')}, ${p('owner')}, ${p('until')})
  on conflict (name) do update set owner = excluded.owner, until = excluded.until
  where sweep.until <= ${p('now')} or sweep.until > ${p('longest')} or sweep.owner = excluded.owner`)

/** How long a sweep lease lasts. The holder renews it before it ends; the others try again when it may have ended. */
const leaseMs = 20_000
/** By how much the clocks of two gateways may differ. A lease that lasts longer than one with this was taken with a wrong clock. */
const differenceMaxMs = 10_000

/** Leases of the sweeps: of several gateways on one store, one at a time does each sweep. */
export class SweepLeases {
  readonly #db: Database
  readonly #owner: string
  readonly #clock: Clock
  readonly #isSureOfTime: () => Promise<boolean>
  readonly #known = new Map<string, { holds: boolean; until: number }>()

  /** @param isSureOfTime whether the clock is right: otherwise it holds no lease, and takes none */
  constructor(db: Database, owner: string, clock: Clock, isSureOfTime: () => Promise<boolean>) {
    this.#db = db
    this.#owner = owner
    this.#clock = clock
    this.#isSureOfTime = isSureOfTime
  }

  /** True when this owner holds the lease of a sweep. Queries the store a few times a minute, however often it is called. */
  readonly holds = async (name: string): Promise<boolean> => {
    if (!(await this.#isSureOfTime())) return false
    const known = this.#known.get(name)
    const left = (known?.until ?? 0) - this.#clock.now()
    // More is left only after the clock was set back.
    if (known && left > 0 && left <= leaseMs / 2) return known.holds
    const holds = await this.#take(name)
    this.#known.set(name, { holds, until: this.#clock.now() + leaseMs / 2 })
    return holds
  }

  async #take(name: string): Promise<boolean> {
    const owner = this.#owner
    const taken = await this.#db.transaction((tx) => {
      const until = tx.now + leaseMs
      return tx.run(take, { name, owner, now: tx.now, until, longest: until + differenceMaxMs })
    })
    return taken > 0
  }
}
