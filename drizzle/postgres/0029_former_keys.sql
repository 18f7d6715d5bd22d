-- Every former signing key that still signs, the newest first: [{"key": sealed, "until": ms}].
alter table subscription add column former_keys text not null default '[]';
update subscription set former_keys = json_build_array(json_build_object('key', previous_key, 'until', previous_key_until))::text
  where previous_key is not null;
alter table subscription drop column previous_key, drop column previous_key_until;
