-- The gateways that work on this store. What one that is not seen any more had claimed is free.
create table gateway (
  id         text primary key,
  started_at integer not null,
  seen_at    integer not null
) without rowid;

-- Whose turn a sweep is: one gateway does it for all.
create table sweep (
  name  text primary key,
  owner text    not null,
  until integer not null
) without rowid;

-- What the gateways of one store have in common, sealed with the encryption key.
create table shared_secret (
  name       text primary key,
  sealed     text    not null,
  created_at integer not null
) without rowid;
