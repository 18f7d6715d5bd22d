import { limited, p, type SQL, sql, statement } from '../../storage/statement.ts'
import type { ReceiptStep } from '../../words/receipts.ts'
import type { AdapterId } from '../adapter.ts'
import { accountSchema } from './account-records.ts'
import { startSchema } from './start-records.ts'

/** The script of each version of the file, the oldest first. */
export const journalSchema = [
  `create table wake (
    id text primary key,
    agent text not null,
    subscription_id text not null,
    sender text,
    harness text,
    conversation_id text,
    cwd text,
    route text,
    handed_over_at integer,
    senders text not null default '[]', -- JSON: a digest has several
    step text not null,
    detail text not null,
    ended_at integer,
    created_at integer not null,
    updated_at integer not null
  ) strict;
  create index wake_of_bridge on wake (handed_over_at);
  create index wake_of_agent on wake (agent, handed_over_at);
  create index wake_of_agent_by_change on wake (agent, updated_at);
  create index wake_by_change on wake (updated_at);
  create table subscription (
    agent text not null,
    trigger text not null,
    subscription_id text not null,
    primary key (agent, trigger)
  ) strict;
  create table holder (id integer primary key check (id = 1), pid integer not null, since integer not null) strict;`,
  `${accountSchema}\n${startSchema}`,
  `create table turn (wake_id text not null, agent text not null, senders text not null, at integer not null) strict;
  create index turn_of_bridge on turn (at);
  create index turn_of_agent on turn (agent, at);
  create table seen_session (agent text primary key, session_id text not null, pid integer not null, start text not null) strict;
  drop index wake_of_bridge;
  drop index wake_of_agent;
  insert into turn select id, agent, senders, handed_over_at from wake where handed_over_at is not null;`,
] as const

/** The record of a wake. Instants in ms since the epoch. */
export interface WakeRecord {
  readonly id: string
  /** The agent that is woken: its identity and its gateway. */
  readonly agent: string
  readonly subscriptionId: string
  /** The agent whose act it is about: `@olga`; null: several, or the gateway does not say. */
  readonly sender: string | null
  readonly harness: AdapterId | null
  readonly conversationId: string | null
  readonly cwd: string | null
  /** The way that it took: `queue`, `monitor`. */
  readonly route: string | null
  /** null: nothing was handed over, or it was taken back. */
  readonly handedOverAt: number | null
  readonly step: ReceiptStep
  readonly detail: string
  /** null: it is not known how it ends. */
  readonly endedAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** A session of an agent whose process has run on this machine. `start`: in the system's own words, which no change of the clock changes. */
export interface SeenSession {
  readonly sessionId: string
  readonly pid: number
  readonly start: string
}

const columns: SQL =
  sql.raw(`id, agent, subscription_id as "subscriptionId", sender, harness, conversation_id as "conversationId",
  cwd, route, handed_over_at as "handedOverAt", step, detail, ended_at as "endedAt", created_at as "createdAt", updated_at as "updatedAt"`)

export const insertWake = statement<{
  id: string
  agent: string
  subscriptionId: string
  sender: string | null
  now: number
}>(
  sql`insert into wake (id, agent, subscription_id, sender, step, detail, created_at, updated_at)
    values (${p('id')}, ${p('agent')}, ${p('subscriptionId')}, ${p('sender')}, 'accepted', '', ${p('now')}, ${p('now')})
    on conflict do nothing`,
)

export const selectWake = statement<{ id: string; agent: string }, WakeRecord>(
  sql`select ${columns} from wake where id = ${p('id')} and agent = ${p('agent')}`,
)

export const handOverWake = statement<{
  id: string
  harness: string
  conversationId: string
  cwd: string | null
  route: string
  senders: string
  now: number
}>(
  sql`update wake set handed_over_at = ${p('now')}, senders = ${p('senders')}, harness = ${p('harness')}, conversation_id = ${p('conversationId')},
    cwd = ${p('cwd')}, route = ${p('route')}, updated_at = ${p('now')} where id = ${p('id')}`,
)

/** A wake may have several: each time that something is begun for it. */
export const insertTurn = statement<{ id: string; senders: string; now: number }>(
  sql`insert into turn (wake_id, agent, senders, at)
    select id, agent, ${p('senders')}, ${p('now')} from wake where id = ${p('id')}`,
)

/** Nothing was begun the last time. */
export const deleteTurn = statement<{ id: string }>(
  sql`delete from turn where rowid = (select max(rowid) from turn where wake_id = ${p('id')})`,
)

export const takeBackWake = statement<{ id: string; detail: string; now: number }>(
  sql`update wake set handed_over_at = null, step = 'held', detail = ${p('detail')}, updated_at = ${p('now')}
    where id = ${p('id')} and ended_at is null`,
)

/** Records a step. `written` stays recorded, whatever other steps follow before the end. */
export const noteWake = statement<{ id: string; step: string; detail: string; now: number }>(
  sql`update wake set step = case when step = 'written' and handed_over_at is not null then step else ${p('step')} end, detail = ${p('detail')}, updated_at = ${p('now')}
    where id = ${p('id')} and ended_at is null`,
)

export const endWake = statement<{ id: string; step: string; detail: string; now: number }>(
  sql`update wake set step = ${p('step')}, detail = ${p('detail')}, ended_at = ${p('now')}, updated_at = ${p('now')}
    where id = ${p('id')}`,
)

/** A wake that has failed with nothing handed over, and comes again. */
export const reopenWake = statement<{ id: string; agent: string; now: number }>(
  sql`update wake set step = 'accepted', detail = '', ended_at = null, updated_at = ${p('now')}
    where id = ${p('id')} and agent = ${p('agent')} and step = 'failed' and handed_over_at is null`,
)

interface NthParams {
  readonly skipped: number
  readonly now: number
}

/** The start of the n-th most recent turn. A start in the future was written by another clock. */
const nthTurn = (where: SQL): SQL =>
  sql`select at from turn where ${where} and at <= ${p('now')}
    order by at desc limit 1 offset ${p('skipped')}`

export const nthOfBridge = statement<NthParams, { at: number }>(nthTurn(sql`true`))

/** The turns of an agent after an instant, the newest first. */
export const turnsOfAgent = statement<
  { agent: string; since: number; now: number; limit: number },
  { at: number; senders: string }
>(
  sql`select at, senders from turn
    where agent = ${p('agent')} and at > ${p('since')} and at <= ${p('now')}
    order by at desc ${limited}`,
)

export const countTurns = statement<{ agent: string; since: number; now: number }, { turns: number }>(
  sql`select count(*) as "turns" from turn
    where agent = ${p('agent')} and at > ${p('since')} and at <= ${p('now')}`,
)

export const countAllTurns = statement<{ since: number; now: number }, { turns: number }>(
  sql`select count(*) as "turns" from turn where at > ${p('since')} and at <= ${p('now')}`,
)

export const newestOfAgent = statement<{ agent: string; limit: number }, WakeRecord>(
  sql`select ${columns} from wake where agent = ${p('agent')} order by updated_at desc ${limited}`,
)

export const deleteOlder = statement<{ before: number }>(sql`delete from wake where updated_at < ${p('before')}`)

export const deleteOlderTurns = statement<{ before: number }>(sql`delete from turn where at < ${p('before')}`)

export const deleteBeyond = statement<{ kept: number }>(
  sql`delete from wake where updated_at <
    (select updated_at from wake order by updated_at desc limit 1 offset ${p('kept')})`,
)

export const selectSubscriptions = statement<{ agent: string }, { trigger: string; subscriptionId: string }>(
  sql`select trigger, subscription_id as "subscriptionId" from subscription where agent = ${p('agent')}`,
)

export const saveSubscription = statement<{ agent: string; trigger: string; subscriptionId: string }>(
  sql`insert into subscription (agent, trigger, subscription_id)
    values (${p('agent')}, ${p('trigger')}, ${p('subscriptionId')})
    on conflict (agent, trigger) do update set subscription_id = excluded.subscription_id`,
)

export const saveSeen = statement<SeenSession & { agent: string }>(
  sql`insert into seen_session (agent, session_id, pid, start)
    values (${p('agent')}, ${p('sessionId')}, ${p('pid')}, ${p('start')})
    on conflict (agent) do update set session_id = excluded.session_id, pid = excluded.pid, start = excluded.start`,
)

export const selectSeen = statement<{ agent: string }, SeenSession>(
  sql`select session_id as "sessionId", pid, start from seen_session where agent = ${p('agent')}`,
)

export const saveHolder = statement<{ pid: number; now: number }>(
  sql`insert into holder (id, pid, since, starts) values (1, ${p('pid')}, ${p('now')}, 1)
    on conflict (id) do update set pid = excluded.pid, since = excluded.since, starts = holder.starts + 1`,
)

export const selectHolder = statement<object, { pid: number; since: number }>(sql`select pid, since from holder`)
