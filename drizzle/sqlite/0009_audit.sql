-- Who did what, from where and with which key. Kept apart from the log: it has a retention of its own, and refused attempts.
create table audit (
  id         text primary key,
  at         integer not null,
  last_at    integer not null,
  project_id text    not null,
  actor      text    not null,
  caller_id  text    not null,
  key_id     text    not null,
  address    text    not null,
  front      text    not null,
  operation  text    not null,
  target     text    not null,
  outcome    text    not null,
  count      integer not null
) without rowid;

create index audit_of_project on audit (project_id, id);
