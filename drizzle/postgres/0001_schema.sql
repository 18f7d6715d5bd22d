-- The whole schema of a store, a noun at a time. A store that exists gets a change by a file of its own, with the next number.
-- Instants are milliseconds since the epoch, flags are 0 and 1, JSON is text, ids are text.
-- The columns, their order and the comments are those of the embedded store's schema. What is compared or ordered has its collation: bytes.

-- Projects and the log

create table project (
  id         text collate "C" primary key,
  log_head   bigint           not null default 0, -- the newest logId: the one counter of the project's log
  log_tail   bigint           not null default 0, -- logIds up to here are pruned
  limits     text,                                -- JSON, {name: number}: set by the operator in place of the defaults
  created_at bigint           not null
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- Every append updates its project's row: with room on its page the old versions are cleared away as it goes.

create table event (
  project_id text collate "C" not null,
  log_id     bigint           not null,
  type       text collate "C" not null,
  task_id    text collate "C",
  actor      text collate "C" not null,
  actor_id   text, -- the caller that caused it, whom it does not wake; null: the gateway
  data       text             not null,
  created_at bigint           not null,
  primary key (project_id, log_id)
);
-- The events of one task, for its streams and pushes.
create index event_by_task on event (task_id, log_id) where task_id is not null;

-- The agents that an event concerns: an agent's subscriptions, each with one trigger, and its own view of the log range over these rows.
create table event_audience (
  audience   text collate "C" not null,
  project_id text collate "C" not null, -- whose log: a task concerns an originator of another project too
  trigger    text collate "C" not null, -- '': the event fires none
  log_id     bigint           not null,
  primary key (audience, project_id, trigger, log_id)
);

-- Agents

create table agent (
  id                  text collate "C" primary key,
  project_id          text collate "C" not null,
  handle              text collate "C" not null,
  display_name        text,
  description         text,
  aliases             text             not null,
  skills              text             not null,
  input_modes         text             not null,
  output_modes        text             not null,
  access              text collate "C" not null,
  contact_policy      text             not null default 'everybody', -- its writers: everybody of its project, or those it granted CAN_REPLY_TO
  default_wake_policy text collate "C" not null,
  version             bigint           not null,
  created_at          bigint           not null,
  updated_at          bigint           not null
);
-- The agents of a project, by handle; the recipients of a broadcast.
create index agent_by_project on agent (project_id, handle);
-- The public agents of other projects, for the catalog.
create index agent_public on agent (project_id, handle) where access = 'public';

-- Every name that an agent answers to: handle, aliases, and a display name that can be typed. One key keeps them apart.
create table agent_name (
  project_id text collate "C" not null,
  name       text collate "C" not null,
  agent_id   text collate "C" not null,
  primary key (project_id, name)
);
-- The names of an agent, when it changes or is removed.
create index agent_name_by_agent on agent_name (agent_id);

-- Names that removed agents answered to. Only the agent that is registered again under its handle takes them.
create table reserved_name (
  project_id text collate "C" not null,
  name       text collate "C" not null,
  handle     text collate "C" not null, -- of the agent whose name it was
  created_at bigint           not null,
  primary key (project_id, name)
);
-- The names of a handle, when it is registered again.
create index reserved_name_by_handle on reserved_name (project_id, handle);

-- Bytes stored by each agent. The row of a removed agent stays: its bytes are still the project's.
create table usage (
  agent_id   text collate "C" primary key,
  project_id text collate "C" not null,
  bytes      bigint           not null
);
-- The sum of a project.
create index usage_by_project on usage (project_id);

-- Keys and permissions

create table api_key (
  id             text collate "C" primary key,
  agent_id       text collate "C" not null,
  hash           text collate "C" not null unique,
  label          text,
  scopes         text             not null default 'read send work manage mint',
  expires_at     bigint,
  last_used_at   bigint,
  created_by     text,             -- an identity: @donna, @operator
  created_by_key text collate "C", -- the id of the API key or operator key that made it, or admin
  created_at     bigint           not null,
  revoked_at     bigint
);
-- The keys of an agent.
create index api_key_by_agent on api_key (agent_id);
-- The keys of an agent, page by page.
create index api_key_by_agent_and_id on api_key (agent_id, id);
-- The keys that a key has made, when it is revoked.
create index api_key_by_maker on api_key (created_by_key) where created_by_key is not null;
-- The newest revocations, whose calls end on every gateway.
create index api_key_by_revocation on api_key (revoked_at) where revoked_at is not null;
-- The keys that have expired.
create index api_key_by_end on api_key (expires_at) where expires_at is not null and revoked_at is null;

create table operator_key (
  id             text collate "C" primary key,
  hash           text collate "C" not null unique,
  label          text,
  role           text             not null, -- admin | manager | viewer
  projects       text,                      -- JSON: their names; null: all projects
  expires_at     bigint,
  last_used_at   bigint,
  created_by_key text collate "C" not null,
  created_at     bigint           not null,
  revoked_at     bigint
);
-- The keys that a key has made, when it is revoked.
create index operator_key_by_maker on operator_key (created_by_key);
-- The newest revocations, whose calls end on every gateway.
create index operator_key_by_revocation on operator_key (revoked_at) where revoked_at is not null;
-- The keys that have expired.
create index operator_key_by_end on operator_key (expires_at) where expires_at is not null and revoked_at is null;

-- Tokens of issuers that are refused before they expire.
create table revoked_token (
  id         text collate "C" primary key, -- the key id of the token's caller: jwt:…
  expires_at bigint           not null
);
-- The revocations that still matter, and those that no longer do.
create index revoked_token_by_end on revoked_token (expires_at);

-- Codes of links that sign a person in on the page, once.
create table sign_in_code (
  id         text collate "C" primary key, -- SHA-256 of the code, in hex
  sealed_key text             not null,    -- the bearer key, encrypted with a key that only the code gives
  expires_at bigint           not null
);
-- The codes that have expired.
create index sign_in_code_by_end on sign_in_code (expires_at);

create table permission (
  id         text collate "C" primary key,
  project_id text collate "C" not null,
  grantor_id text collate "C" not null,
  grantee_id text collate "C" not null,
  scope      text collate "C" not null,
  key_id     text             not null default '', -- the grantor's key, with which the permission ends; '': an operator's
  created_at bigint           not null,
  unique (grantor_id, grantee_id, scope)
);
-- The permissions that an agent has.
create index permission_by_grantee on permission (grantee_id);
-- The permissions that end with a key.
create index permission_by_key on permission (key_id) where key_id <> '';

-- Sessions

-- A running harness process that speaks for an agent. The newest owns the identity, so that at most one of an agent's lives.
create table session (
  id                 text collate "C" primary key,
  project_id         text collate "C" not null,
  agent_id           text collate "C" not null,
  key_id             text collate "C", -- the key that opened it, with which it ends
  surface            text             not null,
  capabilities       text             not null,
  pid                bigint,
  process_started_at bigint,
  cwd                text,             -- where the harness works, as it says
  harness_session_id text,             -- the id of the harness for its own conversation
  state              text             not null default 'unknown', -- presence, as it was last told
  source             text             not null default 'unknown',
  active_turn_id     text,
  presence_at        bigint,
  context_tokens     bigint,           -- the size of its conversation, where the harness tells
  acted_at           bigint           not null default 0, -- the last act of the harness itself: a program beside it does not act
  last_seen_at       bigint           not null,
  created_at         bigint           not null,
  ended_at           bigint,
  end_reason         text,             -- ended | closed | timeout | preempted
  successor_id       text collate "C" -- the session that took the identity over
);
-- One live session for each agent.
create unique index session_live on session (agent_id) where ended_at is null;
-- The live sessions of a project: its list, and the recipients of a broadcast.
create index session_live_by_project on session (project_id, id) where ended_at is null;
-- The ended sessions of a project, for its list.
create index session_ended_by_project on session (project_id, id) where ended_at is not null;
-- The newest session of an agent, and its list.
create index session_by_agent on session (agent_id, id);
-- The live sessions that end with a key.
create index session_by_key on session (key_id) where ended_at is null;
-- The sessions that were silent for too long.
create index session_by_silence on session (last_seen_at) where ended_at is null;
-- The sessions whose retention is over.
create index session_by_end on session (ended_at) where ended_at is not null;

-- A session of an MCP client over HTTP, of a protocol version that has sessions. Any gateway of the store serves it.
create table mcp_session (
  id               text collate "C" primary key, -- SHA-256 of its Mcp-Session-Id, in hexadecimal
  project_id       text collate "C" not null,
  caller_id        text collate "C" not null,    -- the agent, or operator
  key_id           text collate "C" not null,    -- the key that began it, with which it ends
  protocol_version text             not null,    -- as negotiated
  initialize       text             not null,    -- the params of its initialize request, as JSON
  log_level        text,                         -- of its last logging/setLevel
  resources        text             not null,    -- the URIs of resources/subscribe, as a JSON list
  stream_id        text,                         -- the stream that its notifications are written to: the newest
  last_used_at     bigint           not null,
  created_at       bigint           not null
);
-- The sessions of a key: those that end with it, and the oldest above its bound.
create index mcp_session_by_key on mcp_session (key_id, last_used_at);
-- The sessions of a caller: those that end with it, and the oldest above its bound.
create index mcp_session_by_caller on mcp_session (caller_id, last_used_at);
-- The sessions that nobody has used for long.
create index mcp_session_by_use on mcp_session (last_used_at);

-- Tasks

create table task (
  id                 text collate "C" not null primary key,
  project_id         text collate "C" not null,
  context_id         text collate "C" not null,            -- '': its own, which follows from its id
  agent_id           text collate "C" not null default '', -- the agent that it was sent to, which never changes
  assignee_id        text collate "C" not null,            -- the agent that works on it, which changes when it is handed over
  originator_id      text collate "C" not null,
  state              text collate "C" not null,
  version            bigint           not null,
  status_message_seq bigint,
  status_at          bigint           not null,
  reason             text,
  priority           text collate "C" not null,
  message_count      bigint           not null,
  chunk_count        bigint           not null default 0,
  size               bigint           not null default 0,  -- bytes of the JSON of all that it holds, and some more for each value
  expires_at         bigint,
  created_at         bigint           not null,
  updated_at         bigint           not null,
  first_size         bigint,                              -- of the first message
  tagged_concepts    text             not null,
  metadata           text,
  first_message      text                                 -- null: it is long, and in a row of its own
);
-- A list without a state merges one range for each state: half the indexes, and every list reads a page's worth of rows.
-- Almost every task is with the agent that it was sent to: one index finds it by either. A task that was handed over is in two others.
-- The tasks of an assignee that it was sent.
create index task_by_assignee on task (assignee_id, state, status_at desc, id desc) where case when agent_id = assignee_id then true else false end;
-- The tasks of an assignee that were handed to it.
create index task_handed_to on task (assignee_id, state, status_at desc, id desc) where case when agent_id <> assignee_id then true else false end;
-- The tasks that an agent was sent and has handed on.
create index task_handed_on on task (agent_id, state, status_at desc, id desc) where case when agent_id <> assignee_id then true else false end;
-- The tasks of an originator.
create index task_by_originator on task (originator_id, state, status_at desc, id desc);
-- The tasks of an originator for one agent.
create index task_by_originator_agent on task (originator_id, agent_id, status_at desc, id desc);
-- The tasks of a project, for its operator.
create index task_by_project on task (project_id, state, status_at desc, id desc);
-- The later tasks of a context, and those of one that a client named.
create index task_by_context on task (context_id, status_at desc, id desc) where context_id <> '';
-- The tasks that nobody began in time.
create index task_by_expiry on task (expires_at) where expires_at is not null and state = 'submitted';

-- The earlier assignees of a task: they may still read it.
create table task_former_assignee (
  task_id  text collate "C" not null,
  agent_id text collate "C" not null,
  primary key (task_id, agent_id)
);

-- The number of tasks of a project in each state: of all, and of those that have one agent, one assignee, one originator, or one agent
-- and originator. '' in a column: any. A list has its total from here.
create table task_count (
  agent_id      text collate "C" not null,
  assignee_id   text collate "C" not null,
  originator_id text collate "C" not null,
  project_id    text collate "C" not null,
  state         text collate "C" not null,
  total         bigint           not null,
  primary key (agent_id, assignee_id, originator_id, project_id, state)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- Counters are updated in place as long as their pages have room.

create table task_message (
  task_id    text collate "C" not null,
  seq        bigint           not null,
  size       bigint,
  created_at bigint           not null,
  message    text             not null,
  primary key (task_id, seq)
);

-- An artifact is the sequence of its chunks. A chunk with append = 0 starts it anew.
create table task_chunk (
  task_id     text collate "C" not null,
  seq         bigint           not null,
  artifact_id text collate "C" not null,
  append      bigint           not null,
  last_chunk  bigint           not null,
  size        bigint,
  created_at  bigint           not null,
  artifact    text             not null,
  primary key (task_id, seq)
);

-- One owner for each unit of work: the key holds it.
create table claim (
  project_id text collate "C" not null,
  ref        text collate "C" not null, -- a task, an issue, a commit, a path: as it was given
  owner_id   text collate "C" not null,
  claimed_at bigint           not null,
  seen_at    bigint           not null, -- the last time that its owner said that it works on it
  primary key (project_id, ref)
);
-- The claims of an agent.
create index claim_by_owner on claim (owner_id, project_id, ref);

-- Mail

create table message (
  id              text collate "C" not null primary key,
  project_id      text collate "C" not null,
  sender_id       text collate "C" not null,
  type            text             not null default 'msg',
  signal_type     text,
  task_id         text collate "C",
  task_seq        bigint,
  priority        text collate "C" not null,
  wake_policy     text collate "C" not null,
  in_reply_to     text collate "C",
  thread_id       text collate "C" not null, -- '': the message begins its thread, and is found by its own id
  address         text,                      -- as the sender gave it: '@donna', '*', 'web:*'
  ref             text,
  sender_session  text,
  broadcast       bigint           not null default 0,
  recipient_count bigint           not null default 1,
  created_at      bigint           not null,
  subject         text             not null,
  tagged_concepts text             not null,
  payload         text,
  body            text             -- null for the mail of a task: its text is the task's
);
-- The mail of a sender, without that of tasks.
create index message_by_sender on message (sender_id, id) where task_id is null;
-- The later mail of a task: the first has the id of the task.
create index message_by_task on message (task_id, task_seq) where task_id is not null and task_seq > 1;
-- The answers in a thread.
create index message_by_thread on message (thread_id, id) where thread_id <> '';

-- A message for one recipient: the chain that the recipient moves, and the evidence of the channel. A message's id begins with its time,
-- so the key is an inbox in order of arrival.
create table message_recipient (
  agent_id        text collate "C" not null,
  message_id      text collate "C" not null,
  type            text collate "C" not null default 'msg',
  signal_type     text collate "C",
  status          text collate "C" not null,
  pending         bigint           not null default 0, -- 1: for the first route that comes to hand it over
  receipt         text             not null default 'accepted',
  session_id      text,                                -- the session that it was resolved to
  delivered_at    bigint,
  delivery_method text,                                -- push | piggyback | startup_drain | inbox
  seen_at         bigint,
  acked_at        bigint,
  ended_at        bigint,
  wake            text,                                -- JSON: the strongest step of the newest wake that told its recipient of it
  updated_at      bigint           not null,
  primary key (agent_id, message_id)
);
-- The recipients of a message. A hash has no order: by an ordered one PostgreSQL walked over the mail of all agents, to find that of one.
create index message_recipient_by_message on message_recipient using hash (message_id);
-- The mail that waits to be handed over.
create index message_recipient_pending on message_recipient (agent_id, message_id) where pending = 1;
-- The unread mail of an inbox.
create index message_recipient_unread on message_recipient (agent_id, message_id) where status = 'sent';
-- The signals of one type in an inbox.
create index message_recipient_by_signal on message_recipient (agent_id, signal_type, message_id) where signal_type is not null;
-- The mail of one type in an inbox, other than the common two.
create index message_recipient_by_type on message_recipient (agent_id, type, message_id) where type <> 'msg' and type <> 'task';

-- The fill of each limit of messages, and the instant of that count: one for each sender, pair, recipient and project.
create table bucket (
  id          text collate "C" primary key,
  level_ms    bigint           not null,
  counted_at  bigint           not null,
  last_sender text             not null default '',
  refused_at  bigint           not null default 0
);

-- The results of requests that may be repeated: of tasks, of mail, and of all other calls.
create table idempotency_key (
  caller_id   text collate "C" not null,
  scope       text collate "C" not null, -- the id of the agent that a task is for, `mail` or `call`
  key         text collate "C" not null,
  fingerprint text             not null,
  result_id   text collate "C" not null, -- of a call its sealed answer; '': it has begun
  created_at  bigint           not null,
  primary key (caller_id, scope, key)
);
-- The keys whose retention is over.
create index idempotency_key_by_age on idempotency_key (created_at);

-- Subscriptions and wakes

create table subscription (
  id                     text collate "C" primary key,
  kind                   text collate "C" not null,              -- wake | push
  project_id             text collate "C" not null,
  agent_id               text collate "C" not null,              -- the owner: an agent's id, or the caller that registered a push config
  audience               text collate "C" not null,              -- whose events: an agent's id, or a task's id
  trigger                text collate "C",
  filters                text             not null,
  harness_target         text collate "C" not null,
  target                 text             not null,              -- JSON: url, coalesceMode, daemonSocketPath, or the push config
  coalesce_ms            bigint           not null,
  key_id                 text collate "C",                       -- the key that last set its target, with which it ends
  managed_by             text collate "C",                       -- the agent that set its target by a grant: without the grant nothing is sent there
  session_id             text collate "C",                       -- the session that opened it, with which it ends
  signing_key            text,                                   -- encrypted
  former_keys            text             not null default '[]', -- JSON, the newest first: [{"key": sealed, "until": ms}], which still sign
  status                 text collate "C" not null,
  reason                 text,
  failed_in_a_row        bigint           not null default 0,
  failing_cursor_log_id  bigint,                                 -- the cursor before the failures in a row, where a recovery begins
  failing_emitted_log_id bigint,                                 -- the watermark before it
  cursor_log_id          bigint           not null,              -- everything up to here was sent, passed over or not matched
  last_emitted_log_id    bigint,
  claimed_to_log_id      bigint,                                 -- the end of the range being sent, so that a re-send covers the same
  generation             bigint           not null default 0,    -- moves on resync: same logId, new eventId
  generation_at          bigint           not null default 0,
  resume_with_digest     bigint           not null default 0,
  announces_waiting      bigint           not null default 0,    -- 1: the next digest also has the unread mail and open tasks of before
  announces_held         bigint           not null default 0,    -- the generation whose released events the next digest has too; 0: there are none
  window_until           bigint           not null default 0,    -- leading coalescing: the window behind the last emission
  stream_id              text,                                   -- the stream that its wakes are written to
  stream_gateway         text,                                   -- the gateway of that stream
  stream_capabilities    text             not null default '[]', -- a JSON list: the abilities of the stream's reader, as it says
  due_at                 bigint,
  parked_until           bigint,                                 -- nothing is sent before: its agent is at a limit of its harness
  probe_at               bigint,                                 -- the next try of the receiver of a degraded webhook; null: there is none
  lease_owner            text collate "C",
  mcp_id                 text collate "C",                       -- the id that a client of MCP knows; null: another target
  expires_at             bigint,                                 -- it ends then unless its client refreshes it
  has_gap                bigint           not null default 0,    -- 1: events were given up, and the client has not been told
  created_at             bigint           not null,
  updated_at             bigint           not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
-- The subscriptions to the events of an agent or a task.
create index subscription_by_audience on subscription (audience, status);
-- Those that an event can change. Due and leased ones are left out: each event would read all of an agent with hundreds of them.
create index subscription_open on subscription (audience, status)
  where status = 'active' and (due_at is null or harness_target in ('bridge-daemon'));
-- The subscription of a client of MCP, by the id that it knows.
create unique index subscription_by_mcp_id on subscription (mcp_id) where mcp_id is not null;
-- Those that end unless they are refreshed.
create index subscription_by_expiry on subscription (expires_at) where expires_at is not null;
-- The subscriptions that are due.
create index subscription_due on subscription (due_at) where due_at is not null;
-- The numbers of all subscriptions, for the metrics.
create index subscription_by_state on subscription (harness_target, kind, status);
-- The degraded webhooks that are to be tried.
create index subscription_probe on subscription (probe_at) where status = 'degraded' and probe_at is not null;
-- The subscriptions of an owner, of one kind.
create index subscription_by_agent on subscription (agent_id, kind);
-- The push configs of an owner that still tell of their task, for their bound.
create index subscription_live_push on subscription (agent_id) where kind = 'push' and status <> 'paused';
-- The subscriptions that end with a session.
create index subscription_by_session on subscription (session_id) where session_id is not null;
-- The subscriptions that end with a key.
create index subscription_by_key on subscription (key_id) where key_id is not null;
-- The subscriptions that an agent has set for others, when its grant ends.
create index subscription_by_manager on subscription (managed_by) where managed_by is not null;
-- The subscriptions whose streams a gateway has, when it ends.
create index subscription_by_stream_gateway on subscription (stream_gateway) where stream_gateway is not null;

-- Removed subscriptions whose deliveries, replays and held events are still here. A sweep deletes them in small steps.
create table removed_subscription (
  id         text collate "C" primary key,
  removed_at bigint           not null,
  farewell   text                                                -- JSON: the last message to the client of MCP, until it is sent
);
-- The removed subscriptions whose client is to be told.
create index removed_subscription_farewell on removed_subscription (removed_at) where farewell is not null;
-- The removed subscriptions, the oldest first.
create index removed_subscription_by_age on removed_subscription (removed_at);

create table delivery (
  subscription_id text collate "C" not null,
  event_id        text collate "C" not null,
  event_type      text collate "C" not null,
  from_log_id     bigint           not null,
  to_log_id       bigint           not null,
  event_count     bigint           not null,
  attempts        text             not null,
  outcome         text collate "C" not null, -- pending | delivered | failed | rejected
  next_attempt_at bigint,
  step            text,                      -- the highest step that the receiver has reported
  history         text,                      -- JSON: the reader's reports about a wake, step by step, and the agents that were told
  emission        text,                      -- JSON: an emission whose outcome is open for long. A gateway that ended has it sent again as it was
  created_at      bigint           not null,
  updated_at      bigint           not null,
  primary key (subscription_id, event_id)
);
-- The wakes that a gateway was sending when it ended.
create index delivery_unfinished on delivery (subscription_id, event_id) where emission is not null;
-- The deliveries of a receipt, which names its wake by the event id alone. An expression, so that no other statement takes it: for an empty
-- store it looks as good as the index of a subscription.
create index delivery_by_event on delivery ((event_id || ''));
-- The deliveries that wait for their next attempt, for what is shown of their subscription.
create index delivery_retrying on delivery (subscription_id) where next_attempt_at is not null;

-- Events that somebody asked to have sent again, beside the cursor.
create table replay (
  subscription_id text collate "C" not null,
  log_id          bigint           not null,
  requested_at    bigint           not null,
  primary key (subscription_id, log_id)
);

-- An event that matched and woke nobody, with the reason.
create table held_wake (
  subscription_id text collate "C" not null,
  log_id          bigint           not null,
  project_id      text collate "C" not null,
  action          text             not null,           -- hold_for_next_turn | store_only
  reason          text             not null,
  presence        text,                                -- the state that decided, where one did
  released        bigint           not null default 0, -- 1: presence no longer holds it: the next digest has it, or had it
  created_at      bigint           not null,
  primary key (subscription_id, log_id)
);
-- The events that presence holds.
create index held_wake_by_presence on held_wake (subscription_id, log_id) where presence is not null and released = 0;
-- The events of a release, for its digest.
create index held_wake_released on held_wake (subscription_id, log_id) where released = 1;
-- The held events whose retention is over.
create index held_wake_by_age on held_wake (created_at);

-- Recovery

-- What recovery does for an agent, and what it knows of its bridge.
create table recovery (
  agent_id      text collate "C" primary key,
  project_id    text collate "C" not null,
  epoch         bigint  not null default 0, -- moves with each act: an act of an earlier one is refused
  mode          text,                      -- nudge | restart: the act in flight
  since         bigint ,                   -- when it was decided
  begun_at      bigint ,                   -- when a bridge began it
  session_id    text collate "C",-- the session that it was decided about
  evidence      text,                      -- JSON: why it was decided
  acted_for     text,                      -- the reason of the last act: none is repeated for the same
  abandoned     bigint  not null default 0, -- acts in a row without a sign of life
  acts          text    not null default '[]', -- JSON: the acts of the last hour, [{"mode", "at"}]
  deferrals     bigint  not null default 0, -- looks at which it waited for a person
  pulsed_at     bigint ,
  pulsed_for    text,                      -- the reason of the last pulse
  parked_since  bigint ,
  parked_until  bigint ,                   -- no turn begins before
  parked_open   bigint  not null default 0, -- 1: it stays parked until a person acts
  parked_reason text,
  parked_detail text,
  decision      text,                      -- JSON: the last decision
  bridge        text,                      -- JSON: the account of its bridge
  bridge_at     bigint 
);
-- The agents of a project that are parked.
create index recovery_parked on recovery (project_id, parked_since) where parked_until is not null;

-- What recovery may do: for a project (agent_id is ''), and for an agent of it. A project without a row is tripped.
create table gate (
  project_id text collate "C" not null,
  agent_id   text collate "C" not null,
  nudges     text    not null, -- enabled | disabled | tripped
  restarts   text    not null,
  reason     text,
  changed_by text    not null,
  since      bigint  not null,
  settings   text,             -- JSON: the times and bounds that differ from the defaults
  primary key (project_id, agent_id)
);

-- What operators were told of what waits for a person, and until when they have put it off.
create table need (
  project_id    text collate "C" not null,
  id            text collate "C" not null, -- of its task and version, message, session, subscription, or agent
  kind          text             not null,
  agent         text,
  told_at       bigint           not null, -- 0: never
  is_open       bigint           not null, -- 1: it waits, as far as they know
  snoozed_until bigint           not null, -- 0: it is not put off
  primary key (project_id, id)
);

-- Operation

-- The gateways that work on this store. The leases of one that is not seen any more are free.
create table gateway (
  id         text collate "C" primary key,
  started_at bigint           not null,
  seen_at    bigint           not null
);

-- The owner of each sweep: one gateway does it for all.
create table sweep (
  name  text collate "C" primary key,
  owner text             not null,
  until bigint           not null
);

-- The secrets that the gateways of one store have in common, sealed with the encryption key.
create table shared_secret (
  name       text collate "C" primary key,
  sealed     text             not null,
  created_at bigint           not null
);

-- Acts: by which caller, from where and with which key. Kept apart from the log: it has a retention of its own, and refused attempts.
create table audit (
  id         text collate "C" primary key,
  at         bigint           not null,
  last_at    bigint           not null,
  project_id text collate "C" not null,
  actor      text             not null,
  caller_id  text             not null,
  key_id     text             not null,
  address    text             not null,
  front      text             not null,
  operation  text             not null,
  target     text             not null,
  outcome    text             not null,
  count      bigint           not null
);
-- The records of a project. The default project has nearly all of a gateway with one project: they are found by their id.
create index audit_of_project on audit (project_id, id) where project_id <> 'default';
