-- What the reader of a stream says that it can do: a JSON list.
alter table subscription add column stream_capabilities text not null default '[]';
update subscription set stream_capabilities = '["spawn"]' where stream_spawns = 1;
alter table subscription drop column stream_spawns;

-- 1: presence held the event, and no longer does: the next digest has it, or had it.
alter table held_wake add column released bigint not null default 0;
create index held_wake_by_presence on held_wake (subscription_id, log_id) where presence is not null and released = 0;
create index held_wake_released on held_wake (subscription_id, log_id) where released = 1;
-- The generation in which held events were released that the next digest has too; 0: there are none.
alter table subscription add column announces_held bigint not null default 0;

-- What the reader of a stream has said about a wake, step by step, and whom it was told to: JSON.
alter table delivery add column history text;
-- The strongest step of the newest wake that told its recipient of a message: JSON.
alter table message_recipient add column wake text;
