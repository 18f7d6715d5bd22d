-- Until when an act in flight has to lead to a sign of life. `since` says when it was ordered, and never moves.
alter table recovery add column deadline_at {int};

-- The account of turns: each that was begun, and each process that was started, whatever its end.
create table turn (
  agent_id        {key} not null,
  id              {key} not null, -- ULID: of a wake its event id
  project_id      {key} not null,
  act             {key} not null, -- wake | run | nudge | boot
  route           {key} not null, -- the target of its wake, or the harness that was started
  subscription_id {key},
  event_id        {key},
  from_log_id     {int},
  to_log_id       {int},
  senders         {key} not null, -- JSON: handles
  thread_id       {key},
  started_at      {int} not null,
  outcome         {key},
  detail          {key},
  ended_at        {int},
  cost            {key},          -- JSON, as the harness says it
  primary key (agent_id, id)
){byKey};
-- The newest turns of a project, and the oldest of all for retention.
create index turn_of_project on turn (project_id, id);
-- The turns that a cap withholds until `ended_at`.
create index turn_withheld on turn (project_id, ended_at, agent_id) where outcome = 'withheld';

-- Mail to the operator, by the project and the sender: one sender's many hide nobody's.
alter table message_recipient add column origin {key}; -- 'project sender', where the recipient is the operator
update message_recipient set origin = (select m.project_id || ' ' || m.sender_id from message m where m.id = message_id) where agent_id = 'operator';
-- The operator's unread mail of each sender.
create index message_recipient_by_origin on message_recipient (origin, message_id)
{sqlite}   where origin is not null and status = 'sent';
{postgres} where agent_id = 'operator' and status = 'sent';

-- Facts about the store itself.
-- place: where it was at its last start. In another place it is a copy, and what followed the copy is gone.
create table store_fact (
  name  {key} primary key,
  value {key} not null
){byKey};

-- The generation that the last resync of a subscription began: an answer to a wake of an earlier one moves no cursor.
alter table subscription add column resynced_generation {int} not null default 0;

-- has_gap 2: its client has had the message of the gap; its next refresh says so too. Those whose message is to be sent.
create index subscription_with_gap on subscription (expires_at) where has_gap = 1;
