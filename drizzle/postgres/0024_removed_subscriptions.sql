-- Subscriptions that were removed and whose deliveries, replays and held events are not yet: a sweep deletes them in small steps.
create table removed_subscription (
  id         text collate "C" primary key,
  removed_at bigint not null
);
create index removed_subscription_by_age on removed_subscription (removed_at);
