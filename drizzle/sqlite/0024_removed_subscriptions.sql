-- Subscriptions that were removed and whose deliveries, replays and held events are not yet: a sweep deletes them in small steps.
create table removed_subscription (
  id         text    primary key,
  removed_at integer not null
) without rowid;
create index removed_subscription_by_age on removed_subscription (removed_at);
