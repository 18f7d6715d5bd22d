-- The limits of messages: how full each bucket is, and when that was counted. One for each sender, pair, recipient and project.
create table bucket (
  id          text collate "C" primary key,
  level_ms    bigint not null,
  counted_at  bigint not null,
  last_sender text   not null default '',
  refused_at  bigint not null default 0
);
drop table send_rate;
drop table exchange;
