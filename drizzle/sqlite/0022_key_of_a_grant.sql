-- The key that an agent granted a permission with: revoking the key revokes the permission. '': an operator's, or not known.
alter table permission add column key_id text not null default '';
create index permission_by_key on permission (key_id) where key_id <> '';
