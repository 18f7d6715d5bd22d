import type { StateFile } from '../../storage/state-file.ts'
import { p, type SQL, sql, statement } from '../../storage/statement.ts'

/** How a start has ended, as it is reported to the gateway. */
type StartOutcome = 'started' | 'failed' | 'refused'

/** A process that this bridge was to start for an agent. Instants in ms since the epoch. */
export interface StartRecord {
  readonly id: number
  readonly agent: string
  /** The act of the gateway; null: a proof, by hand. */
  readonly epoch: number | null
  /** The recipe that it was started with. */
  readonly recipe: string
  readonly begunAt: number
  /** null: it has not been started, as far as is known. */
  readonly pid: number | null
  /** ISO 8601 */
  readonly startedAt: string | null
  /** The start in the system's own words. */
  readonly start: string | null
  readonly outcome: StartOutcome | null
  readonly detail: string
  /** When the outcome was reported to the gateway. */
  readonly reportedAt: number | null
  /** When it was seen that it runs no more. */
  readonly endedAt: number | null
}

/** A recipe that has worked once, from the start to the first act of a session. */
interface Proof {
  readonly recipe: string
  /** ms since the epoch */
  readonly provenAt: number
}

const detailMax = 200

/** The processes that a bridge has started for its agents. A call that has returned is on the disk. */
export class StartRecords {
  readonly #file: StateFile
  readonly #now: () => number

  constructor(file: StateFile, now: () => number) {
    this.#file = file
    this.#now = now
  }

  /** Notes that a start begins, before anything is done. undefined: that act is on record, and is not begun again. */
  begin(agent: string, epoch: number | null, recipe: string): number | undefined {
    return this.#file.get(insertStart, { agent, epoch, recipe, now: this.#now() })?.id
  }

  /** Notes the process, before its command runs. */
  running(id: number, pid: number, { startedAt, start }: { readonly startedAt: string; readonly start: string }): void {
    this.#file.run(saveProcess, { id, pid, startedAt, start })
  }

  /** Notes how a start has ended. The first end counts. */
  end(id: number, outcome: StartOutcome, detail: string): void {
    this.#file.run(saveOutcome, { id, outcome, detail: detail.slice(0, detailMax) })
  }

  /** Notes that the process runs no more. */
  gone(id: number): void {
    this.#file.run(saveGone, { id, now: this.#now() })
  }

  reported(id: number): void {
    this.#file.run(saveReported, { id, now: this.#now() })
  }

  /** Those whose process may run still, the oldest first. */
  open(agent: string): StartRecord[] {
    return this.#file.all(selectOpen, { agent })
  }

  /** The starts whose outcome was not reported yet. */
  unreported(agent: string): StartRecord[] {
    return this.#file.all(selectUnreported, { agent })
  }

  newest(agent: string): StartRecord | undefined {
    return this.#file.get(selectNewest, { agent })
  }

  /** Removes those that ended before an instant. */
  prune(before: number): void {
    this.#file.run(deleteOlder, { before })
  }

  saveProof(agent: string, recipe: string): void {
    this.#file.run(saveProof, { agent, recipe, now: this.#now() })
  }

  proof(agent: string): Proof | undefined {
    return this.#file.get(selectProof, { agent })
  }
}

export const startSchema = `
  create table start (
    id integer primary key,
    agent text not null,
    epoch integer, -- null: a proof
    recipe text not null,
    begun_at integer not null,
    pid integer,
    started_at text,
    system_start text,
    outcome text,
    detail text not null default '',
    reported_at integer,
    ended_at integer
  ) strict;
  create unique index start_of_epoch on start (agent, epoch);
  create index start_that_runs on start (agent) where ended_at is null;
  create table proof (agent text primary key, recipe text not null, proven_at integer not null) strict;`

const columns: SQL = sql.raw(`id, agent, epoch, recipe, begun_at as "begunAt", pid, started_at as "startedAt",
  system_start as "start", outcome, detail, reported_at as "reportedAt", ended_at as "endedAt"`)

const insertStart = statement<{ agent: string; epoch: number | null; recipe: string; now: number }, { id: number }>(
  sql`insert into start (agent, epoch, recipe, begun_at) values (${p('agent')}, ${p('epoch')}, ${p('recipe')}, ${p('now')})
    on conflict do nothing returning id`,
)
const saveProcess = statement<{ id: number; pid: number; startedAt: string; start: string }>(
  sql`update start set pid = ${p('pid')}, started_at = ${p('startedAt')}, system_start = ${p('start')} where id = ${p('id')}`,
)
const saveOutcome = statement<{ id: number; outcome: string; detail: string }>(
  sql`update start set outcome = ${p('outcome')}, detail = ${p('detail')} where id = ${p('id')} and outcome is null`,
)
const saveGone = statement<{ id: number; now: number }>(
  sql`update start set ended_at = ${p('now')} where id = ${p('id')} and ended_at is null`,
)
const saveReported = statement<{ id: number; now: number }>(
  sql`update start set reported_at = ${p('now')} where id = ${p('id')} and reported_at is null`,
)
const selectOpen = statement<{ agent: string }, StartRecord>(
  sql`select ${columns} from start where agent = ${p('agent')} and ended_at is null order by id`,
)
const selectUnreported = statement<{ agent: string }, StartRecord>(
  sql`select ${columns} from start
    where agent = ${p('agent')} and epoch is not null and outcome is not null and reported_at is null order by id`,
)
const selectNewest = statement<{ agent: string }, StartRecord>(
  sql`select ${columns} from start where agent = ${p('agent')} order by id desc limit 1`,
)
const deleteOlder = statement<{ before: number }>(sql`delete from start where ended_at < ${p('before')}`)
const saveProof = statement<{ agent: string; recipe: string; now: number }>(
  sql`insert into proof (agent, recipe, proven_at) values (${p('agent')}, ${p('recipe')}, ${p('now')})
    on conflict (agent) do update set recipe = excluded.recipe, proven_at = excluded.proven_at`,
)
const selectProof = statement<{ agent: string }, Proof>(
  sql`select recipe, proven_at as "provenAt" from proof where agent = ${p('agent')}`,
)
