-- Instants are milliseconds since the epoch, flags are 0 and 1, JSON is text, ids are text.

create table project (
  id         text primary key,
  log_head   integer not null default 0, -- the newest logId; the one counter of the project's log
  log_tail   integer not null default 0, -- logIds up to here are pruned
  created_at integer not null
) without rowid;

create table event (
  project_id text    not null,
  log_id     integer not null,
  type       text    not null,
  task_id    text,
  actor      text    not null,
  data       text    not null,
  created_at integer not null,
  primary key (project_id, log_id)
) without rowid;
create index event_by_task on event (task_id, log_id) where task_id is not null;

-- Whom an event concerns: what an agent's subscriptions and its own view of the log range over.
create table event_audience (
  audience   text    not null,
  project_id text    not null, -- whose log: a task concerns an originator of another project too
  log_id     integer not null,
  trigger    text,
  primary key (audience, project_id, log_id)
) without rowid;

create table agent (
  id                  text primary key,
  project_id          text    not null,
  handle              text    not null,
  display_name        text,
  description         text,
  aliases             text    not null,
  skills              text    not null,
  input_modes         text    not null,
  output_modes        text    not null,
  access              text    not null,
  default_wake_policy text    not null,
  version             integer not null,
  created_at          integer not null,
  updated_at          integer not null
) without rowid;

create index agent_by_project on agent (project_id, handle);

-- Every name an agent answers to, handle and aliases alike, so that one index keeps them apart.
create table agent_name (
  project_id text not null,
  name       text not null,
  agent_id   text not null,
  primary key (project_id, name)
) without rowid;
create index agent_name_by_agent on agent_name (agent_id);

create table api_key (
  id         text primary key,
  agent_id   text    not null,
  hash       text    not null unique,
  label      text,
  created_at integer not null,
  revoked_at integer
) without rowid;
create index api_key_by_agent on api_key (agent_id);

create table permission (
  id         text primary key,
  project_id text    not null,
  grantor_id text    not null,
  grantee_id text    not null,
  scope      text    not null,
  created_at integer not null,
  unique (grantor_id, grantee_id, scope)
) without rowid;
create index permission_by_grantee on permission (grantee_id);

create table subscription (
  id                   text primary key,
  kind                 text    not null, -- wake | push
  project_id           text    not null,
  agent_id             text    not null, -- the owner: an agent's id, or the caller that registered a push config
  audience             text    not null, -- whose events: an agent's id, or a task's id
  trigger              text,
  filters              text    not null,
  harness_target       text    not null,
  target               text    not null, -- JSON: url, coalesceMode, daemonSocketPath, or the push config
  coalesce_ms          integer not null,
  signing_key          text,             -- encrypted
  previous_key         text,             -- encrypted
  previous_key_until   integer,
  status               text    not null,
  reason               text,
  failed_in_a_row      integer not null default 0,
  cursor_log_id        integer not null, -- everything up to here was sent, passed over or not matched
  last_emitted_log_id  integer,
  claimed_to_log_id    integer,          -- the end of the range being sent, so that a re-send covers the same
  generation           integer not null default 0, -- moves on resync: same logId, new eventId
  generation_at        integer not null default 0,
  resume_with_digest   integer not null default 0,
  window_until         integer not null default 0, -- leading coalescing: the window behind the last emission
  due_at               integer,
  lease_owner          text,
  created_at           integer not null,
  updated_at           integer not null
) without rowid;
create index subscription_by_audience on subscription (audience, status);
create index subscription_by_agent on subscription (agent_id, kind);
create index subscription_due on subscription (due_at) where due_at is not null;

create table delivery (
  subscription_id text    not null,
  event_id        text    not null,
  event_type      text    not null,
  from_log_id     integer not null,
  to_log_id       integer not null,
  event_count     integer not null,
  attempts        text    not null,
  outcome         text    not null, -- pending | delivered | failed | rejected
  next_attempt_at integer,
  created_at      integer not null,
  updated_at      integer not null,
  primary key (subscription_id, event_id)
) without rowid;

create table task (
  id                 text primary key,
  project_id         text    not null,
  context_id         text    not null,
  assignee_id        text    not null,
  originator_id      text    not null,
  state              text    not null,
  version            integer not null,
  status_message_seq integer,
  status_at          integer not null,
  reason             text,
  priority           text    not null,
  tagged_concepts    text    not null,
  metadata           text,
  message_count      integer not null,
  chunk_count        integer not null default 0,
  expires_at         integer,
  created_at         integer not null,
  updated_at         integer not null
) without rowid;
-- A list without a state merges one range for each state: half the indexes, and every list reads a page's worth of rows.
create index task_by_assignee on task (assignee_id, state, status_at desc, id desc);
create index task_by_originator on task (originator_id, state, status_at desc, id desc);
create index task_by_project on task (project_id, state, status_at desc, id desc);
create index task_by_originator_assignee on task (originator_id, assignee_id, status_at desc, id desc);
create index task_by_context on task (context_id, status_at desc, id desc);
create index task_by_expiry on task (expires_at) where expires_at is not null and state = 'submitted';

create table task_message (
  task_id    text    not null,
  seq        integer not null,
  message    text    not null,
  created_at integer not null,
  primary key (task_id, seq)
) without rowid;

-- An artifact is the sequence of its chunks; a chunk with append = 0 starts it anew.
create table task_chunk (
  task_id     text    not null,
  seq         integer not null,
  artifact_id text    not null,
  append      integer not null,
  last_chunk  integer not null,
  artifact    text    not null,
  created_at  integer not null,
  primary key (task_id, seq)
) without rowid;

create table idempotency_key (
  caller_id   text    not null,
  agent_id    text    not null,
  key         text    not null,
  fingerprint text    not null,
  task_id     text    not null,
  created_at  integer not null,
  primary key (caller_id, agent_id, key)
) without rowid;
create index idempotency_key_by_age on idempotency_key (created_at);

create table message (
  id              text primary key,
  project_id      text    not null,
  sender_id       text    not null,
  subject         text    not null,
  task_id         text,
  task_seq        integer,
  priority        text    not null,
  wake_policy     text    not null,
  tagged_concepts text    not null,
  in_reply_to     text,
  thread_id       text    not null,
  created_at      integer not null
) without rowid;
create index message_by_task on message (task_id, task_seq) where task_id is not null;

create table message_recipient (
  agent_id   text    not null,
  message_id text    not null,
  status     text    not null,
  updated_at integer not null,
  primary key (agent_id, message_id)
) without rowid;
create index message_recipient_by_message on message_recipient (message_id);
