-- The stream that a subscription's wakes are written to: which one, on which gateway, and whether its reader starts a process for each.
alter table subscription add column stream_id text;
alter table subscription add column stream_gateway text;
alter table subscription add column stream_spawns integer not null default 0;
create index subscription_by_stream_gateway on subscription (stream_gateway) where stream_gateway is not null;
-- 1: the next digest also has the unread mail and the open tasks from before the cursor.
alter table subscription add column announces_waiting integer not null default 0;
-- A target without a connected channel waits for one.
update subscription set status = 'waiting', reason = 'no channel is connected', due_at = null, lease_owner = null, claimed_to_log_id = null
  where kind = 'wake' and status = 'active' and harness_target in ('mcp-notifications', 'bridge-daemon');

-- An emission whose outcome is open for long: it is sent again as it was, whatever happens to the gateway. JSON.
alter table delivery add column emission text;
-- The highest step that the receiver has reported.
alter table delivery add column step text;
create index delivery_unfinished on delivery (subscription_id, event_id) where emission is not null;
create index delivery_unfinished_by_event on delivery (event_id) where emission is not null;
