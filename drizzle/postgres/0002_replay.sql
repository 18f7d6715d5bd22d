-- Events that somebody asked to have sent again, beside the cursor.
create table replay (
  subscription_id text collate "C" not null,
  log_id          bigint not null,
  requested_at    bigint not null,
  primary key (subscription_id, log_id)
);
