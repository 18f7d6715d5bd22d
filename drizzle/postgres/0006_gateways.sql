-- The gateways that work on this store. What one that is not seen any more had claimed is free.
create table gateway (
  id         text collate "C" primary key,
  started_at bigint not null,
  seen_at    bigint not null
);

-- Whose turn a sweep is: one gateway does it for all.
create table sweep (
  name  text collate "C" primary key,
  owner text    not null,
  until bigint not null
);

-- What the gateways of one store have in common, sealed with the encryption key.
create table shared_secret (
  name       text collate "C" primary key,
  sealed     text    not null,
  created_at bigint not null
);
