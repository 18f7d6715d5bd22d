-- What a key may be used for, until when, who made it, and when it was last shown. A key of before may do everything.
alter table api_key add column scopes text not null default 'read send work manage mint';
alter table api_key add column expires_at bigint;
alter table api_key add column last_used_at bigint;
alter table api_key add column created_by text;     -- an identity: @donna, @operator
alter table api_key add column created_by_key text collate "C"; -- the key that made it: an API key's id, an operator key's id, or admin
create index api_key_by_maker on api_key (created_by_key) where created_by_key is not null;
create index api_key_by_revocation on api_key (revoked_at) where revoked_at is not null;
create index api_key_by_end on api_key (expires_at) where expires_at is not null and revoked_at is null;

-- The key that opened a session or last said where a subscription goes: when the key is revoked, they end with it.
alter table session add column key_id text collate "C";
create index session_by_key on session (key_id) where ended_at is null;
alter table subscription add column key_id text collate "C";
create index subscription_by_key on subscription (key_id) where key_id is not null;
-- The agent that pointed another's subscription somewhere, by its grant. Without the grant nothing is sent there.
alter table subscription add column managed_by text collate "C";
create index subscription_by_manager on subscription (managed_by) where managed_by is not null;

-- Names that removed agents answered to. Only the agent that is registered again under its handle takes them.
create table reserved_name (
  project_id text collate "C" not null,
  name       text collate "C" not null,
  handle     text collate "C" not null, -- whose name it was
  created_at bigint not null,
  primary key (project_id, name)
);
create index reserved_name_by_handle on reserved_name (project_id, handle);

create table operator_key (
  id             text collate "C" primary key,
  hash           text collate "C" not null unique,
  label          text,
  role           text    not null, -- admin | manager | viewer
  projects       text,             -- JSON: their names; null: all projects
  expires_at     bigint,
  last_used_at   bigint,
  created_by_key text collate "C" not null,
  created_at     bigint not null,
  revoked_at     bigint
);
create index operator_key_by_maker on operator_key (created_by_key);
create index operator_key_by_revocation on operator_key (revoked_at) where revoked_at is not null;
create index operator_key_by_end on operator_key (expires_at) where expires_at is not null and revoked_at is null;

-- Tokens of issuers that are refused before they expire.
create table revoked_token (
  id         text collate "C" primary key, -- the key id of the token's caller: jwt:…
  expires_at bigint not null
);
create index revoked_token_by_end on revoked_token (expires_at);
