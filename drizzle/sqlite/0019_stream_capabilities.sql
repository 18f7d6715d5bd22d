-- What the reader of a stream says that it can do: a JSON list.
alter table subscription add column stream_capabilities text not null default '[]';
update subscription set stream_capabilities = '["spawn"]' where stream_spawns = 1;
alter table subscription drop column stream_spawns;
