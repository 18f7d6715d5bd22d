-- Where the browser of an operator takes notifications (Web Push). Each is a cursor over the needs that operators of its project were notified of.
create table push_subscription (
  id            {key} primary key,
  project_id    {key} not null,
  key_id        {key} not null,  -- it ends with its key
  endpoint      {key} not null,  -- the address at the push service
  p256dh        {key} not null,  -- the public key of the browser
  auth          {key} not null,  -- the secret that it shares with whoever sends to it
  label         {key},
  expires_at    {int},           -- the end of its key or token
  cursor_log_id {int} not null,  -- needs that were raised until this event are done with
  due_at        {int} not null,  -- nothing is sent before
  tries         {int} not null,  -- in a row that failed
  created_at    {int} not null
){byKey};
create unique index push_subscription_by_endpoint on push_subscription (project_id, endpoint);
create index push_subscription_of_key on push_subscription (key_id);

-- The event by which a need was raised last; 0: none was.
alter table need add column raised_log_id {int} not null default 0;
