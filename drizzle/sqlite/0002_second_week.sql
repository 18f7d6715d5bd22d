-- Facts about the store itself.
-- place: where it was at its last start. In another place it is a copy, and what followed the copy is gone.
create table store_fact (
  name  text primary key,
  value text not null
) without rowid;
