-- Who did what, from where and with which key. Kept apart from the log: it has a retention of its own, and refused attempts.
create table audit (
  id         text   collate "C" primary key,
  at         bigint not null,
  last_at    bigint not null,
  project_id text   collate "C" not null,
  actor      text   not null,
  caller_id  text   not null,
  key_id     text   not null,
  address    text   not null,
  front      text   not null,
  operation  text   not null,
  target     text   not null,
  outcome    text   not null,
  count      bigint not null
);

create index audit_of_project on audit (project_id, id);
