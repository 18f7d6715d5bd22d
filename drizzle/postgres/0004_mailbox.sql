-- What a message says. A task's mail has no body: its text is the task's.
alter table message add column address text; -- as the sender gave it: '@donna', '*', 'web:*'
alter table message add column body text;
alter table message add column type text not null default 'msg';
alter table message add column signal_type text;
alter table message add column payload text;
alter table message add column ref text;
alter table message add column sender_session text;
alter table message add column broadcast bigint not null default 0;
alter table message add column recipient_count bigint not null default 1;
create index message_by_thread on message (thread_id collate "C", id);
create index message_by_sender on message (sender_id collate "C", id) where task_id is null;

-- What each recipient has of it: the chain that the recipient moves, and the evidence that a channel has.
alter table message_recipient add column type text collate "C" not null default 'msg';
alter table message_recipient add column signal_type text collate "C";
alter table message_recipient add column pending bigint not null default 0; -- 1: for the first route that comes to hand it over
alter table message_recipient add column receipt text not null default 'accepted';
alter table message_recipient add column session_id text; -- the session that it was resolved to
alter table message_recipient add column delivered_at bigint;
alter table message_recipient add column delivery_method text; -- push | piggyback | startup_drain | inbox
alter table message_recipient add column seen_at bigint;
alter table message_recipient add column acked_at bigint;
alter table message_recipient add column ended_at bigint;
-- A message's id begins with its time, so the key of the table is an inbox in order of arrival.
create index message_recipient_pending on message_recipient (agent_id, message_id) where pending = 1;
create index message_recipient_unread on message_recipient (agent_id, message_id) where status = 'sent';
create index message_recipient_by_signal on message_recipient (agent_id, signal_type, message_id) where signal_type is not null;
create index message_recipient_by_type on message_recipient (agent_id, type, message_id) where type <> 'msg' and type <> 'task';

create table message_key (
  caller_id   text collate "C" not null,
  key         text collate "C" not null,
  fingerprint text   not null,
  message_id  text   not null,
  created_at  bigint not null,
  primary key (caller_id, key)
);
create index message_key_by_age on message_key (created_at);

-- When a sender's allowance is whole again: one row holds a rate.
create table send_rate (
  sender_id  text collate "C" primary key,
  full_at    bigint not null,
  refused_at bigint not null default 0
);

-- How often two have taken turns in writing to each other.
create table exchange (
  first_id      text collate "C" not null,
  second_id     text collate "C" not null,
  last_sender   text   not null,
  turns         bigint not null,
  window_at     bigint not null,
  blocked_until bigint not null default 0,
  primary key (first_id, second_id)
);
