-- A running harness process that speaks for an agent. The newest owns the identity, so that at most one of an agent's lives.
create table session (
  id                 text    primary key,
  project_id         text    not null,
  agent_id           text    not null,
  surface            text    not null,
  capabilities       text    not null,
  pid                integer,
  process_started_at integer,
  state              text    not null default 'unknown', -- presence, as it was last told
  source             text    not null default 'unknown',
  active_turn_id     text,
  presence_at        integer,
  last_seen_at       integer not null,
  created_at         integer not null,
  ended_at           integer,
  end_reason         text,    -- ended | timeout | preempted
  successor_id       text     -- the session that took the identity over
) without rowid;
create unique index session_live on session (agent_id) where ended_at is null;
create index session_live_by_project on session (project_id, id) where ended_at is null;
create index session_by_silence on session (last_seen_at) where ended_at is null;
create index session_by_agent on session (agent_id, id);
create index session_ended_by_project on session (project_id, id) where ended_at is not null;
create index session_by_end on session (ended_at) where ended_at is not null;

-- The session that opened a subscription: when it ends, nothing is sent there any more.
alter table subscription add column session_id text;
create index subscription_by_session on subscription (session_id) where session_id is not null;

-- An event that matched and woke nobody, and why.
create table held_wake (
  subscription_id text    not null,
  log_id          integer not null,
  project_id      text    not null,
  action          text    not null, -- hold_for_next_turn | store_only
  reason          text    not null,
  presence        text,             -- the state that decided, where one did
  created_at      integer not null,
  primary key (subscription_id, log_id)
) without rowid;
create index held_wake_by_age on held_wake (created_at);
