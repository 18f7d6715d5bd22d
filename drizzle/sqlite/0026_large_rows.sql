-- The rows of these tables can be large. A search in a table without rowid reads each row that it compares with, the whole of it, so the
-- small rows between large ones were slow to find, and to add. With a rowid, a search reads the keys alone. The large columns are the last
-- ones: SQLite reads a row up to the column that is asked for.
create table task_message_next (
  task_id    text    not null,
  seq        integer not null,
  size       integer,
  created_at integer not null,
  message    text    not null,
  primary key (task_id, seq)
);
insert into task_message_next (task_id, seq, size, created_at, message)
  select task_id, seq, size, created_at, message from task_message order by task_id, seq;
drop table task_message;
alter table task_message_next rename to task_message;

create table task_chunk_next (
  task_id     text    not null,
  seq         integer not null,
  artifact_id text    not null,
  append      integer not null,
  last_chunk  integer not null,
  size        integer,
  created_at  integer not null,
  artifact    text    not null,
  primary key (task_id, seq)
);
insert into task_chunk_next (task_id, seq, artifact_id, append, last_chunk, size, created_at, artifact)
  select task_id, seq, artifact_id, append, last_chunk, size, created_at, artifact from task_chunk order by task_id, seq;
drop table task_chunk;
alter table task_chunk_next rename to task_chunk;

create table message_next (
  id              text    not null primary key,
  project_id      text    not null,
  sender_id       text    not null,
  type            text    not null default 'msg',
  signal_type     text,
  task_id         text,
  task_seq        integer,
  priority        text    not null,
  wake_policy     text    not null,
  in_reply_to     text,
  thread_id       text    not null,
  address         text,
  ref             text,
  sender_session  text,
  broadcast       integer not null default 0,
  recipient_count integer not null default 1,
  created_at      integer not null,
  subject         text    not null,
  tagged_concepts text    not null,
  payload         text,
  body            text
);
insert into message_next (id, project_id, sender_id, type, signal_type, task_id, task_seq, priority, wake_policy, in_reply_to, thread_id,
    address, ref, sender_session, broadcast, recipient_count, created_at, subject, tagged_concepts, payload, body)
  select id, project_id, sender_id, type, signal_type, task_id, task_seq, priority, wake_policy, in_reply_to, thread_id,
    address, ref, sender_session, broadcast, recipient_count, created_at, subject, tagged_concepts, payload, body
  from message order by id;
drop table message;
alter table message_next rename to message;
create index message_by_sender on message (sender_id, id) where task_id is null;
create index message_by_task on message (task_id, task_seq) where task_id is not null and (task_seq > 1 or id <> 'MESSAGE:' || task_id);
create index message_by_thread on message (thread_id, id) where thread_id <> '';

create table task_next (
  id                 text    not null primary key,
  project_id         text    not null,
  context_id         text    not null,
  agent_id           text    not null default '',
  assignee_id        text    not null,
  originator_id      text    not null,
  state              text    not null,
  version            integer not null,
  status_message_seq integer,
  status_at          integer not null,
  reason             text,
  priority           text    not null,
  message_count      integer not null,
  chunk_count        integer not null default 0,
  size               integer not null default 0,
  expires_at         integer,
  created_at         integer not null,
  updated_at         integer not null,
  tagged_concepts    text    not null,
  metadata           text
);
insert into task_next (id, project_id, context_id, agent_id, assignee_id, originator_id, state, version, status_message_seq, status_at, reason,
    priority, message_count, chunk_count, size, expires_at, created_at, updated_at, tagged_concepts, metadata)
  select id, project_id, context_id, agent_id, assignee_id, originator_id, state, version, status_message_seq, status_at, reason,
    priority, message_count, chunk_count, size, expires_at, created_at, updated_at, tagged_concepts, metadata
  from task order by id;
drop table task;
alter table task_next rename to task;
create index task_by_originator on task (originator_id, state, status_at desc, id desc);
create index task_by_project on task (project_id, state, status_at desc, id desc);
create index task_by_context on task (context_id, status_at desc, id desc);
create index task_by_expiry on task (expires_at) where expires_at is not null and state = 'submitted';
create index task_by_originator_agent on task (originator_id, agent_id, status_at desc, id desc);
create index task_by_assignee on task (assignee_id, state, status_at desc, id desc) where case when agent_id = assignee_id then true else false end;
create index task_handed_to on task (assignee_id, state, status_at desc, id desc) where case when agent_id <> assignee_id then true else false end;
create index task_handed_on on task (agent_id, state, status_at desc, id desc) where case when agent_id <> assignee_id then true else false end;
