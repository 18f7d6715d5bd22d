import type { StateFile } from '../../storage/state-file.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'

/** A step of a hand-over that took longer than it may, and how often. */
interface LateStep {
  readonly step: string
  readonly count: number
}

/** The account of a bridge, over all its lives. Instants in ms since the epoch. */
interface AccountRecord {
  /** How often a bridge has started with this journal. */
  readonly starts: number
  readonly lastAcceptAt: number | undefined
  readonly lastSweepAt: number | undefined
  /** The most frequent first. */
  readonly late: readonly LateStep[]
}

const lateMax = 20

/** The account that a bridge keeps of itself. */
export class AccountRecords {
  readonly #file: StateFile
  readonly #now: () => number

  constructor(file: StateFile, now: () => number) {
    this.#file = file
    this.#now = now
  }

  of(agent: string): AccountRecord {
    return {
      starts: this.#file.get(selectStarts, {})?.starts ?? 0,
      lastAcceptAt: this.#file.get(selectAccept, { agent })?.at,
      lastSweepAt: this.#file.get(selectSweep, { agent })?.at,
      late: this.#file.all(selectLate, { agent, limit: lateMax }),
    }
  }

  /** Notes that the loop of an agent has turned. */
  swept(agent: string): void {
    this.#file.run(saveSweep, { agent, now: this.#now() })
  }

  /** Notes that a step took longer than it may. */
  late(agent: string, step: string): void {
    this.#file.run(addLate, { agent, step })
  }
}

export const accountSchema = `
  alter table holder add column starts integer not null default 0;
  create index wake_of_agent_by_accept on wake (agent, created_at);
  create table sweep (agent text primary key, at integer not null) strict;
  create table late_step (
    agent text not null,
    step text not null,
    times integer not null,
    primary key (agent, step)
  ) strict;`

const selectStarts = statement<object, { starts: number }>(sql`select starts from holder`)
const selectAccept = statement<{ agent: string }, { at: number }>(
  sql`select created_at as "at" from wake where agent = ${p('agent')} order by created_at desc limit 1`,
)
const selectSweep = statement<{ agent: string }, { at: number }>(sql`select at from sweep where agent = ${p('agent')}`)
const saveSweep = statement<{ agent: string; now: number }>(
  sql`insert into sweep (agent, at) values (${p('agent')}, ${p('now')}) on conflict (agent) do update set at = excluded.at`,
)
const addLate = statement<{ agent: string; step: string }>(
  sql`insert into late_step (agent, step, times) values (${p('agent')}, ${p('step')}, 1)
    on conflict (agent, step) do update set times = times + 1`,
)
const selectLate = statement<{ agent: string; limit: number }, LateStep>(
  sql`select step, times as "count" from late_step where agent = ${p('agent')} order by times desc, step ${limited}`,
)
