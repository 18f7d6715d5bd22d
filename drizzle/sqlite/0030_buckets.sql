-- The limits of messages: how full each bucket is, and when that was counted. One for each sender, pair, recipient and project.
create table bucket (
  id          text    primary key,
  level_ms    integer not null,
  counted_at  integer not null,
  last_sender text    not null default '',
  refused_at  integer not null default 0
) without rowid;
drop table send_rate;
drop table exchange;
