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

/** How long a turn lasts. Who has it asks again before it is over; who has it not asks when it may be. */
const turnMs = 20_000

/** Who of several gateways does what only one should do, such as a sweep. */
export class Turns {
  readonly #db: Database
  readonly #owner: string
  readonly #clock: Clock
  readonly #known = new Map<string, { isMine: boolean; until: number }>()

  constructor(db: Database, owner: string, clock: Clock) {
    this.#db = db
    this.#owner = owner
    this.#clock = clock
  }

  /** Whether it is this owner's turn at `name`. Asks the store a few times a minute, however often it is asked itself. */
  readonly isMine = async (name: string): Promise<boolean> => {
    const known = this.#known.get(name)
    if (known && known.until > this.#clock.now()) return known.isMine
    const isMine = await this.#take(name)
    this.#known.set(name, { isMine, until: this.#clock.now() + turnMs / 2 })
    return isMine
  }

  async #take(name: string): Promise<boolean> {
    const owner = this.#owner
    return (await this.#db.transaction((tx) => tx.run(take, { name, owner, now: tx.now, until: tx.now + turnMs }))) > 0
  }
}
