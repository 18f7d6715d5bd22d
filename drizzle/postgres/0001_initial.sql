-- Instants are milliseconds since the epoch, flags are 0 and 1, JSON is text, ids are text.
-- What is compared or ordered has the collation of the embedded store: bytes.

create table project (
  id         text collate "C" primary key,
  log_head   bigint not null default 0, -- the newest logId; the one counter of the project's log
  log_tail   bigint not null default 0, -- logIds up to here are pruned
  created_at bigint not null
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- Every append updates its project's row: with room on its page the old versions are cleared away as it goes.

create table event (
  project_id text collate "C" not null,
  log_id     bigint not null,
  type       text collate "C" not null,
  task_id    text collate "C",
  actor      text collate "C" not null,
  data       text not null,
  created_at bigint not null,
  primary key (project_id, log_id)
);
create index event_by_task on event (task_id, log_id) where task_id is not null;

-- Whom an event concerns: what an agent's subscriptions and its own view of the log range over.
create table event_audience (
  audience   text collate "C" not null,
  project_id text collate "C" not null, -- whose log: a task concerns an originator of another project too
  log_id     bigint not null,
  trigger    text collate "C",
  primary key (audience, project_id, log_id)
);

create table agent (
  id                  text collate "C" primary key,
  project_id          text collate "C" not null,
  handle              text collate "C" not null,
  display_name        text,
  description         text,
  aliases             text not null,
  skills              text not null,
  input_modes         text not null,
  output_modes        text not null,
  access              text collate "C" not null,
  default_wake_policy text collate "C" not null,
  version             bigint not null,
  created_at          bigint not null,
  updated_at          bigint not null
);

create index agent_by_project on agent (project_id, handle);

-- Every name an agent answers to, handle and aliases alike, so that one index keeps them apart.
create table agent_name (
  project_id text collate "C" not null,
  name       text collate "C" not null,
  agent_id   text collate "C" not null,
  primary key (project_id, name)
);
create index agent_name_by_agent on agent_name (agent_id);

create table api_key (
  id         text collate "C" primary key,
  agent_id   text collate "C" not null,
  hash       text collate "C" not null unique,
  label      text,
  created_at bigint not null,
  revoked_at bigint
);
create index api_key_by_agent on api_key (agent_id);

create table permission (
  id         text collate "C" primary key,
  project_id text collate "C" not null,
  grantor_id text collate "C" not null,
  grantee_id text collate "C" not null,
  scope      text collate "C" not null,
  created_at bigint not null,
  unique (grantor_id, grantee_id, scope)
);
create index permission_by_grantee on permission (grantee_id);

create table subscription (
  id                  text collate "C" primary key,
  kind                text collate "C" not null, -- wake | push
  project_id          text collate "C" not null,
  agent_id            text collate "C" not null, -- the owner: an agent's id, or the caller that registered a push config
  audience            text collate "C" not null, -- whose events: an agent's id, or a task's id
  trigger             text collate "C",
  filters             text not null,
  harness_target      text collate "C" not null,
  target              text not null, -- JSON: url, coalesceMode, daemonSocketPath, or the push config
  coalesce_ms         bigint not null,
  signing_key         text, -- encrypted
  previous_key        text, -- encrypted
  previous_key_until  bigint,
  status              text collate "C" not null,
  reason              text,
  failed_in_a_row     bigint not null default 0,
  cursor_log_id       bigint not null, -- everything up to here was sent, passed over or not matched
  last_emitted_log_id bigint,
  claimed_to_log_id   bigint, -- the end of the range being sent, so that a re-send covers the same
  generation          bigint not null default 0, -- moves on resync: same logId, new eventId
  generation_at       bigint not null default 0,
  resume_with_digest  bigint not null default 0,
  window_until        bigint not null default 0, -- leading coalescing: the window behind the last emission
  due_at              bigint,
  lease_owner         text collate "C",
  created_at          bigint not null,
  updated_at          bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
create index subscription_by_audience on subscription (audience, status);
create index subscription_by_agent on subscription (agent_id, kind);
create index subscription_due on subscription (due_at) where due_at is not null;

create table delivery (
  subscription_id text collate "C" not null,
  event_id        text collate "C" not null,
  event_type      text collate "C" not null,
  from_log_id     bigint not null,
  to_log_id       bigint not null,
  event_count     bigint not null,
  attempts        text not null,
  outcome         text collate "C" not null, -- pending | delivered | failed | rejected
  next_attempt_at bigint,
  created_at      bigint not null,
  updated_at      bigint not null,
  primary key (subscription_id, event_id)
);

create table task (
  id                 text collate "C" primary key,
  project_id         text collate "C" not null,
  context_id         text collate "C" not null,
  assignee_id        text collate "C" not null,
  originator_id      text collate "C" not null,
  state              text collate "C" not null,
  version            bigint not null,
  status_message_seq bigint,
  status_at          bigint not null,
  reason             text,
  priority           text collate "C" not null,
  tagged_concepts    text not null,
  metadata           text,
  message_count      bigint not null,
  chunk_count        bigint not null default 0,
  expires_at         bigint,
  created_at         bigint not null,
  updated_at         bigint not null
);
-- A list without a state merges one range for each state: half the indexes, and every list reads a page's worth of rows.
create index task_by_assignee on task (assignee_id, state, status_at desc, id desc);
create index task_by_originator on task (originator_id, state, status_at desc, id desc);
create index task_by_project on task (project_id, state, status_at desc, id desc);
create index task_by_originator_assignee on task (originator_id, assignee_id, status_at desc, id desc);
create index task_by_context on task (context_id, status_at desc, id desc);
create index task_by_expiry on task (expires_at) where expires_at is not null and state = 'submitted';

create table task_message (
  task_id    text collate "C" not null,
  seq        bigint not null,
  message    text not null,
  created_at bigint not null,
  primary key (task_id, seq)
);

-- An artifact is the sequence of its chunks; a chunk with append = 0 starts it anew.
create table task_chunk (
  task_id     text collate "C" not null,
  seq         bigint not null,
  artifact_id text collate "C" not null,
  append      bigint not null,
  last_chunk  bigint not null,
  artifact    text not null,
  created_at  bigint not null,
  primary key (task_id, seq)
);

create table idempotency_key (
  caller_id   text collate "C" not null,
  agent_id    text collate "C" not null,
  key         text collate "C" not null,
  fingerprint text not null,
  task_id     text collate "C" not null,
  created_at  bigint not null,
  primary key (caller_id, agent_id, key)
);
create index idempotency_key_by_age on idempotency_key (created_at);

create table message (
  id              text collate "C" primary key,
  project_id      text collate "C" not null,
  sender_id       text collate "C" not null,
  subject         text not null,
  task_id         text collate "C",
  task_seq        bigint,
  priority        text collate "C" not null,
  wake_policy     text collate "C" not null,
  tagged_concepts text not null,
  in_reply_to     text collate "C",
  thread_id       text collate "C" not null,
  created_at      bigint not null
);
create index message_by_task on message (task_id, task_seq) where task_id is not null;

create table message_recipient (
  agent_id   text collate "C" not null,
  message_id text collate "C" not null,
  status     text collate "C" not null,
  updated_at bigint not null,
  primary key (agent_id, message_id)
);
create index message_recipient_by_message on message_recipient (message_id);
