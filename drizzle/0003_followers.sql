-- Followers of a task, or of the next mail of their agent, as MCP tasks. The state is that of the task, or of the mail: none of it is here.
create table follower (
  id           {key} primary key,  -- the id of the MCP task: random, for the key alone
  project_id   {key} not null,
  agent_id     {key} not null,
  key_id       {key} not null,
  task_id      {key},              -- null: it waits for mail
  session_id   {key},              -- the live session at its last poll
  created_at   {int} not null,
  polled_at    {int} not null,
  held_until   {int} not null,     -- until then a poll is held, or the next one comes
  delivered_at {int},              -- a poll had the end for its answer
  cancelled_at {int}               -- its client has ended it
){byKey};
create index follower_of_agent on follower (agent_id, task_id, held_until);
create index follower_by_poll on follower (polled_at);
create index follower_of_project on follower (project_id, id) where delivered_at is null and cancelled_at is null;
create index follower_open on follower (agent_id, id) where delivered_at is null and cancelled_at is null;
create index follower_of_key on follower (key_id);
