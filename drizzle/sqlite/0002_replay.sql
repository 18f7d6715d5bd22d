-- Events that somebody asked to have sent again, beside the cursor.
create table replay (
  subscription_id text    not null,
  log_id          integer not null,
  requested_at    integer not null,
  primary key (subscription_id, log_id)
) without rowid;
