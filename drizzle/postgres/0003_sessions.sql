-- A running harness process that speaks for an agent. The newest owns the identity, so that at most one of an agent's lives.
create table session (
  id                 text collate "C" primary key,
  project_id         text collate "C" not null,
  agent_id           text collate "C" not null,
  surface            text   not null,
  capabilities       text   not null,
  pid                bigint,
  process_started_at bigint,
  state              text   not null default 'unknown', -- presence, as it was last told
  source             text   not null default 'unknown',
  active_turn_id     text,
  presence_at        bigint,
  last_seen_at       bigint not null,
  created_at         bigint not null,
  ended_at           bigint,
  end_reason         text,              -- ended | timeout | preempted
  successor_id       text collate "C"   -- the session that took the identity over
);
create unique index session_live on session (agent_id) where ended_at is null;
create index session_live_by_project on session (project_id, id) where ended_at is null;
create index session_by_silence on session (last_seen_at) where ended_at is null;
create index session_by_agent on session (agent_id, id);
create index session_ended_by_project on session (project_id, id) where ended_at is not null;
create index session_by_end on session (ended_at) where ended_at is not null;

-- The session that opened a subscription: when it ends, nothing is sent there any more.
alter table subscription add column session_id text collate "C";
create index subscription_by_session on subscription (session_id) where session_id is not null;

-- An event that matched and woke nobody, and why.
create table held_wake (
  subscription_id text collate "C" not null,
  log_id          bigint not null,
  project_id      text collate "C" not null,
  action          text   not null, -- hold_for_next_turn | store_only
  reason          text   not null,
  presence        text,            -- the state that decided, where one did
  created_at      bigint not null,
  primary key (subscription_id, log_id)
);
create index held_wake_by_age on held_wake (created_at);
